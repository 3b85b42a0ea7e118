#!/usr/bin/env python3
"""A training step beside what the machine can do at most, and beside PyTorch.

Steps of gpt2-124m by `mtc profile`, which measures the limits in the same run: one process
with two threads, and two ranks of one thread as tp2, dp2 and pp2, this also with stages of
equal work; of several shapes of a batch the first layout only, and so by oneDNN's products,
if --gemm asks for them. Each runs several times, in turn with the others, so that what disturbs the machine for a while disturbs all: the median
of a step counts, and its spread is printed. For each family of ops: what the plan has to do,
how long it took, and the share of the limit (docs/profile.md).

usage: step.py BUILD_DIR BOOK [--dtype f32 bf16] [--shapes 4x256 1x1024 4x16] [--runs N]
               [--steps N] [--layouts WORD ...] [--gemm own onednn] [--torch PYTHON ...]
               [--avx2]
       BOOK: any file of at least 1 MB; tokens are its bytes
       PYTHON: an interpreter that has torch and numpy; PYTHON:compiled by torch.compile
       --avx2: ours and PyTorch's as on a processor that has no AVX-512
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

WARM_UP = 2
AVX2 = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F", "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell"}
LAYOUTS = [("1 rank x 2 threads", ["--threads", "2"], 1),
           ("tp2, 2 ranks", ["--tp", "2"], 1),
           ("dp2, 2 ranks", ["--dp", "2"], 2),
           ("pp2, 2 ranks", ["--pp", "2"], 4),
           ("pp2, balanced", ["--pp", "2", "--stages", "balanced"], 4)]


def run(command, **more):
    """Standard output, and the most memory that the process had, in bytes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return text, usage.ru_maxrss * 1024


class Case:
    """One layout of one shape and type."""

    def __init__(self, options, folder, dtype, shape, layout, gemm):
        self.mtc = os.path.join(options.build, "bin", "mtc")
        self.options, self.profiles, self.memory = options, [], 0
        self.name, extra, parts = layout
        batch, seq = map(int, shape.split("x"))
        self.title = f"{dtype}, {batch} x {seq} tokens, {self.name}, {gemm} products"
        self.tokens = batch * seq
        self.bundle = os.path.join(folder, self.title.replace(" ", "-").replace(",", ""))
        run([self.mtc, "compile", "gpt2-124m", *extra, "--gbs", str(batch), "--mbs",
             str(batch // parts), "--seq", str(seq), "--dtype", dtype, "--gemm", gemm, "-o",
             self.bundle],
            stderr=subprocess.DEVNULL)

    def measure(self):
        # One process, whose memory is that of all ranks.
        text, memory = run(
            [self.mtc, "profile", self.bundle, "--json", "--comm", "threads", "--data",
             self.options.book, "--data-type", "u8", "--warm-up", str(WARM_UP), "--steps",
             str(self.options.steps + WARM_UP), "--quiet"],
            env={**os.environ, "GOMP_SPINCOUNT": "3000"})
        self.profiles.append(json.loads(text))
        self.memory = max(self.memory, memory)

    def seconds(self):
        return statistics.median(p["step_seconds"]["mean"] for p in self.profiles)

    def print(self):
        ordered = sorted(self.profiles, key=lambda p: p["step_seconds"]["mean"])
        steps = [p["step_seconds"]["mean"] for p in ordered]
        ratios = [p["step_over_floor"] for p in ordered]
        table = ordered[(len(ordered) - 1) // 2]
        limits = table["limits"]
        print(f"\n{self.title}: {self.seconds() * 1e3:.0f} ms a step "
              f"({steps[0] * 1e3:.0f} to {steps[-1] * 1e3:.0f}), "
              f"{self.tokens / self.seconds():.0f} tokens/s, "
              f"step / floor = {statistics.median(ratios):.2f} ({min(ratios):.2f} to "
              f"{max(ratios):.2f}), {self.memory / 1e9:.2f} GB")
        print(f"  a rank of the run below: {limits['f32_flops'] / 1e9:.0f} GFLOP/s f32, "
              f"{limits['bf16_flops'] / 1e9:.0f} bf16, copy {limits['copy_bytes'] / 1e9:.1f} GB/s")
        print(f"  {'family, of one rank':28}{'GFLOP':>9}{'GB':>8}{'ms':>9}{'share':>8}"
              f"{'of limit':>10}")
        whole = table["step_seconds"]["mean"]
        for row in table["families"]:
            spent = row["seconds"]["mean"]
            fraction = row["floor_seconds"] / spent if spent > 0 else 0
            print(f"  {row['family']:28}{row['flops'] / 1e9:9.2f}"
                  f"{(row['bytes'] + row['link_bytes']) / 1e9:8.2f}{spent * 1e3:9.1f}"
                  f"{spent / whole:8.1%}{fraction:10.1%}")


def peer(options, torch, dtype, shape):
    """PyTorch's step of the same sizes, with all that slows OpenBLAS unset."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OPENBLAS", "OMP", "MKL", "GOTO"))}
    env.update(AVX2 if options.avx2 else {})
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_step.py")
    python, *how = torch.split(":")
    text, memory = run([python, script, dtype, str(options.steps), *shape.split("x"), *how],
                       env=env)
    return json.loads(text), memory


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--dtype", nargs="+", choices=("f32", "bf16"), default=["f32", "bf16"])
    parser.add_argument("--shapes", nargs="+", default=["4x256", "1x1024", "4x16"],
                        help="samples x tokens; the first one in all layouts")
    parser.add_argument("--layouts", nargs="+", default=[""],
                        help="words of the names of those that are wanted")
    parser.add_argument("--gemm", nargs="+", choices=("own", "onednn"), default=["own"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--torch", nargs="+", default=[],
                        help="interpreters with torch; with :compiled behind it, by torch.compile")
    parser.add_argument("--avx2", action="store_true",
                        help="as on a processor that has no AVX-512")
    options = parser.parse_args()
    os.environ.update(AVX2 if options.avx2 else {})
    with tempfile.TemporaryDirectory() as folder:
        cases = [Case(options, folder, dtype, shape, layout, gemm)
                 for dtype in options.dtype for shape in options.shapes for gemm in options.gemm
                 for layout in (LAYOUTS if shape == options.shapes[0] and gemm == "own"
                                else LAYOUTS[:1])
                 if any(word in layout[0] for word in options.layouts)]
        peers = {}
        for _ in range(options.runs):
            for case in cases:
                case.measure()
            for dtype in options.dtype:
                for shape in options.shapes:
                    for torch in options.torch:
                        peers.setdefault((dtype, shape, torch), []).append(
                            peer(options, torch, dtype, shape))
        for case in cases:
            case.print()
        for (dtype, shape, _), found in peers.items():
            seconds = sorted(result["seconds"] for result, _ in found)
            print(f"\nPyTorch {found[0][0]['version']}, {found[0][0]['threads']} threads, "
                  f"{dtype}, {shape}: {statistics.median(seconds) * 1e3:.0f} ms a step "
                  f"({seconds[0] * 1e3:.0f} to {seconds[-1] * 1e3:.0f}), "
                  f"{max(memory for _, memory in found) / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
