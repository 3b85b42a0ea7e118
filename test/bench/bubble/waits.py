#!/usr/bin/env python3
"""Whether two pipeline stages wait longer than their schedule makes them.

Compiles gpt2-124m for two stages of equal work (`--stages balanced`), one thread a rank,
4 x 256 tokens in 4 microbatches, and takes from `mtc profile --json` what a rank spends in
exchanges, collectives and waits for them: the mean of the ranks, as a share of the step.
Beside it the compiler's own expectation for that plan, by operations of products and
attention (`bubble_fraction` of its report), which is the closed form where stages are equal.

usage: waits.py BUILD_DIR BOOK [--dtype f32 bf16] [--schedules NAME ...] [--steps N]
                [--runs N] [--comm shm] [--allow POINTS]
       BOOK: any file of at least 1 MB; tokens are its bytes
Exit code 1 if some median is more than POINTS (3) above what is expected. Idle cores.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

WARM_UP = 2
WAITING = ("exchanges", "collectives", "waits for collectives")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


class Case:
    def __init__(self, options, folder, dtype, schedule):
        self.options, self.name = options, f"{dtype}, {schedule}"
        self.mtc = os.path.join(options.build, "bin", "mtc")
        self.bundle = os.path.join(folder, f"{dtype}-{schedule}")
        report = run([self.mtc, "compile", "gpt2-124m", "--pp", "2", "--stages", "balanced",
                      "--schedule", schedule, "--gbs", "4", "--mbs", "1", "--seq", "256",
                      "--dtype", dtype, "--json", "-o", self.bundle])
        self.expected, self.found = report["bubble_fraction"], []

    def measure(self):
        """Shares of the step of each family that waits, and the step's seconds."""
        table = run([self.mtc, "profile", self.bundle, "--json", "--comm", self.options.comm,
                     "--data", self.options.book, "--data-type", "u8", "--warm-up",
                     str(WARM_UP), "--steps", str(self.options.steps + WARM_UP), "--quiet"])
        step = table["step_seconds"]["mean"]
        spent = {row["family"]: row["seconds"]["mean"] for row in table["families"]}
        self.found.append(([spent.get(name, 0) / step for name in WAITING], step))

    def waits(self):
        return statistics.median(sum(shares) for shares, _ in self.found)

    def print(self):
        shares = [statistics.median(column) for column in zip(*(s for s, _ in self.found))]
        step = statistics.median(step for _, step in self.found)
        parts = ", ".join(f"{name} {share:.1%}" for name, share in zip(WAITING, shares))
        print(f"{self.name}: {step * 1e3:.0f} ms a step, waits {self.waits():.1%} "
              f"({parts}), expected {self.expected:.1%}, "
              f"{(self.waits() - self.expected) * 100:+.1f} points", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--dtype", nargs="+", choices=("f32", "bf16"), default=["f32", "bf16"])
    parser.add_argument("--schedules", nargs="+", default=["1f1b"])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--comm", default="shm")
    parser.add_argument("--allow", type=float, default=3, help="points above what is expected")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = [Case(options, folder, dtype, schedule) for dtype in options.dtype
                 for schedule in options.schedules]
        for _ in range(options.runs):
            for case in cases:
                case.measure()
        for case in cases:
            case.print()
        return any(c.waits() - c.expected > options.allow / 100 for c in cases)


if __name__ == "__main__":
    sys.exit(main())
