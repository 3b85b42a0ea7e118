#!/usr/bin/env python3
"""How long two pipeline stages wait: measured, by the compiler's estimate, and in theory.

Trains gpt2-124m on one rank and on two stages, one thread a rank, with each schedule and
with transfers posted ahead (`--overlap p2p`) and as whole exchanges (`none`). A stage's
share of the work is what one rank needs for all of it, T1; two stages of which each step
takes T wait for 1 - T1 / 2T of the time. That counts uneven stages (the head is dear) and
the copies between them, which the closed form, (p-1)/(m+p-1) and its kin, does not.

usage: bubble.py BUILD_DIR BOOK [--steps N] [--model NAME] [--stages TEXT] [--json]
       BOOK: any file of at least 1 MB; tokens are its bytes
Two idle cores; the median of all steps but the first two.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

MICROBATCHES = 8
SCHEDULES = [("gpipe", 1), ("1f1b", 1), ("interleaved-1f1b", 2), ("zb-h1", 1)]
WARM_UP = 2


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.mtc = os.path.join(options.build, "bin", "mtc")

    def compile(self, *extra):
        """A bundle and its report."""
        bundle = os.path.join(self.folder, "bundle")
        text = run([self.mtc, "compile", self.options.model, "--mbs", "1", "--gbs",
                    str(MICROBATCHES), "--seq", "128", *extra, "--json", "-o", bundle])
        return bundle, json.loads(text)

    def step(self, bundle):
        """Median milliseconds of a step, and the lowest and the highest."""
        log = os.path.join(self.folder, "log.jsonl")
        run([self.mtc, "run", bundle, "--data", self.options.book, "--data-type", "u8",
             "--steps", str(self.options.steps + WARM_UP), "--quiet", "--log", log])
        with open(log) as file:
            steps = [json.loads(line)["step_ms"] for line in list(file)[1:]][WARM_UP:]
        return statistics.median(steps), min(steps), max(steps)

    def closed_form(self, schedule, chunks):
        text = run([self.mtc, "schedule", "show", schedule, "--pp", "2", "--microbatches",
                    str(MICROBATCHES), "--chunks", str(chunks), "--json"])
        return json.loads(text)["bubble_fraction"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--model", default="gpt2-124m")
    parser.add_argument("--stages", help="as mtc compile has it; not given: even ones")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        alone = bench.step(bench.compile()[0])[0]
        for schedule, chunks in SCHEDULES:
            for overlap in ("none", "p2p"):
                bundle, report = bench.compile(
                    "--pp", "2", "--schedule", schedule, "--chunks", str(chunks),
                    "--overlap", overlap,
                    *(["--stages", options.stages] if options.stages else []))
                median, low, high = bench.step(bundle)
                rows.append({"schedule": schedule, "overlap": overlap, "step_ms": median,
                             "lowest_ms": low, "highest_ms": high,
                             "waits": 1 - alone / (2 * median),
                             "by_operations": report["bubble_fraction"],
                             "even_stages": bench.closed_form(schedule, chunks)})
    if options.json:
        print(json.dumps({"one_rank_ms": alone, "rows": rows}, indent=2))
        return
    print(f"one rank: {alone:.0f} ms a step\n")
    print("| schedule | overlap | step, ms (lowest to highest) | waits | by operations | "
          "even stages |\n|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['schedule']} | {row['overlap']} | {row['step_ms']:.0f} "
              f"({row['lowest_ms']:.0f} to {row['highest_ms']:.0f}) | {row['waits']:.1%} | "
              f"{row['by_operations']:.1%} | {row['even_stages']:.1%} |")


if __name__ == "__main__":
    main()
