#!/usr/bin/env python3
"""A training step beside what the machine can do at most, and beside PyTorch.

Measures the limits first (bench_limits: fused multiply-adds in registers, bandwidth of
a copy), then steps of gpt2-124m, batch 4 x 256 tokens: one process with two threads,
and two ranks of one thread as tp2, dp2 and pp2, this also with stages of equal work. The
ranks are threads of one process (`--comm threads`), so that call_times can stand in front
of the runtime's functions.

For each family: what the plan has to do (FLOPs or bytes), how long it took, and the
fraction of the limit. The floor is the time that the limits alone allow for all of it,
families one after another on a rank; the step is printed as a multiple of it.

usage: step.py BUILD_DIR BOOK [--dtype f32|bf16] [--steps N] [--torch PYTHON]
       BOOK: any file of at least 1 MB; tokens are its bytes
       PYTHON: an interpreter that has torch and numpy
Build first: ninja -C BUILD_DIR bench_limits call_times
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import plan

WARM_UP = 2
LAYOUTS = [("1 rank x 2 threads", ["--threads", "2", "--mbs", "4"], 1, 2, 1),
           ("tp2, 2 ranks", ["--tp", "2", "--mbs", "4"], 2, 1, 1),
           ("dp2, 2 ranks", ["--dp", "2", "--mbs", "2"], 2, 1, 1),
           ("pp2, 2 ranks", ["--pp", "2", "--mbs", "1"], 2, 1, 2),
           ("pp2, balanced", ["--pp", "2", "--mbs", "1", "--stages", "balanced"], 2, 1, 2)]


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.mtc = os.path.join(options.build, "bin", "mtc")
        self.limits = json.loads(run([self.find("bench_limits"), "2"]))

    def find(self, name):
        for place, _, files in os.walk(self.options.build):
            if name in files:
                return os.path.join(place, name)
        sys.exit(f"no {name} in {self.options.build}; build it: ninja {name}")

    def train(self, bundle, preload):
        log, times = (os.path.join(self.folder, n) for n in ("log.jsonl", "times.json"))
        env = {**os.environ, "GOMP_SPINCOUNT": "3000"}
        if preload:
            env.update(LD_PRELOAD=self.find("libcall_times.so"), MTC_CALL_TIMES=times,
                       MTC_CALL_SKIP=str(WARM_UP),
                       MTC_CALL_STEPS=str(self.options.steps))
        run([self.mtc, "run", bundle, "--comm", "threads", "--data", self.options.book,
             "--data-type", "u8", "--steps", str(self.options.steps + WARM_UP),
             "--quiet", "--log", log], env=env)
        with open(log) as file:
            steps = [json.loads(line)["step_ms"] for line in list(file)[1:]][WARM_UP:]
        with open(times) as file:
            # The mean, as the times of families are.
            return statistics.mean(steps) / 1e3, json.load(file)

    def measure(self, name, extra, ranks, threads, stages):
        bundle, ir = (os.path.join(self.folder, n) for n in ("bundle", "ir"))
        run([self.mtc, "compile", "gpt2-124m", *extra, "--gbs", "4", "--seq", "256",
             "--dtype", self.options.dtype, "--save-ir", ir, "-o", bundle])
        verified = next(n for n in sorted(os.listdir(ir)) if n.endswith("verify-plan.mlir"))
        kernels = plan.Kernels(os.path.join(ir, verified))
        programs = [plan.descriptor(self.mtc, bundle, s) for s in range(stages)]
        step, times = self.train(bundle, preload=True)
        return Step(self, name, ranks, threads, programs, kernels, step, times)


class Step:
    """Figures of one layout; work and time are of all ranks, divided by their number:
    ranks run beside each other."""

    def __init__(self, bench, name, ranks, threads, programs, kernels, step, times):
        self.name, self.ranks, self.seconds, self.rows = name, ranks, step, []
        one, two = bench.limits["1"], bench.limits["2"]
        dtype = bench.options.dtype
        peak = (two if threads > 1 else one)[dtype] or one["f32"]
        peak32 = (two if threads > 1 else one)["f32"]
        # Two ranks share the memory; one rank has all of it.
        copy = two["copy"] / ranks
        share = 1.0 / (ranks * times["steps"])
        products = times["products"]
        flops = 0
        for key, entry in products.items():
            stage, row = map(int, key.split("."))
            flops += entry["calls"] * plan.product_flops(programs[stage]["gemms"][row])
        seconds = sum(entry["seconds"] for entry in products.values())
        self.add("GEMM", flops * share, peak, seconds * share, "FLOP")
        for kind in ("attention forward", "attention backward"):
            self.add(kind, times[kind]["work"] * share, peak32,
                     times[kind]["seconds"] * share, "FLOP")
        self.add("gradient norm", times["norm"]["work"] * share, copy,
                 times["norm"]["seconds"] * share, "B")
        dp = 2 if "dp2" in name else 1
        self.add("collectives", times["collectives"]["work"] * share, copy,
                 times["collectives"]["seconds"] * share, "B")
        called = sum(row[3] for row in self.rows) + times["zero"]["seconds"] * share
        inside = times["fragments"]["seconds"] * share
        moved = sum(kernels.bytes.values()) / len(programs)
        updated = sum(plan.update_bytes(d, dp) for d in programs) / len(programs)
        self.add("generated kernels, update", moved + updated, copy,
                 inside - called + times["zero"]["seconds"] * share, "B")
        self.add("between fragments (exchange, data)", 0, copy, step - inside, "B")

    def add(self, family, work, limit, seconds, unit):
        self.rows.append((family, work, limit, seconds, unit))

    def floor(self):
        return sum(work / limit for _, work, limit, _, _ in self.rows)

    def print(self, tokens):
        print(f"\n{self.name}: {self.seconds * 1e3:.0f} ms a step, "
              f"{tokens / self.seconds:.0f} tokens/s; floor {self.floor() * 1e3:.0f} ms, "
              f"step / floor = {self.seconds / self.floor():.2f}")
        print(f"  {'family, of one rank':36}{'work':>14}{'ms':>9}{'share':>8}"
              f"{'of limit':>10}")
        for family, work, limit, seconds, unit in self.rows:
            fraction = work / limit / seconds if seconds > 0 else 0
            print(f"  {family:36}{work / 1e9:10.2f} G{unit:4}{seconds * 1e3:7.1f}"
                  f"{seconds / self.seconds:8.1%}{fraction:10.1%}")


def peer(options, limits):
    """PyTorch's step of the same sizes, with all that slows OpenBLAS unset."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENBLAS", "OMP", "MKL", "GOTO"))}
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_step.py")
    return json.loads(run([options.torch, script, options.dtype, str(options.steps)],
                          env=env))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--torch", help="an interpreter with torch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        for threads, limit in bench.limits.items():
            print(f"{threads} thread(s): f32 {limit['f32'] / 1e9:.0f} GFLOP/s, bf16 "
                  f"{limit['bf16'] / 1e9:.0f} GFLOP/s, copy {limit['copy'] / 1e9:.1f} GB/s")
        first = None
        for layout in LAYOUTS:
            measured = bench.measure(*layout)
            measured.print(4 * 256)
            first = first or measured
        if options.torch:
            found = peer(options, bench.limits)
            print(f"\nPyTorch {found['version']}, {found['threads']} threads, "
                  f"{options.dtype}: {found['seconds'] * 1e3:.0f} ms a step; "
                  f"this program takes {first.seconds / found['seconds']:.2f} of its time")


if __name__ == "__main__":
    main()
