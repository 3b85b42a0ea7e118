"""The norm of a step is that of its gradients, whatever counts them.

Products count what they make, and so do sums over ranks and of two uses, a part each where
ranks have the same; the norm has the rest. In every layout the logged norm is the root of
the sum of the squares of all gradients that the run dumps, as Python adds them up exactly,
in a second step as in the first, whose norm lies in the same sum.

usage: test_global_norm.py BIN_DIR
"""

import math
import os
import sys
import tempfile

import corpus
import safetensors
from layouts import Layout
from run_layout import Mtc, Report

# One addition and a root are rounded, each to 2^-53.
ALLOWED = 1e-15
# A table that is counted in several blocks, by several threads.
LARGE = ["--set", "model.vocab=2500", "--set", "model.padded_vocab=2560"]
# Spec, layout, options of `mtc compile`, the transport, and whether sums count.
CASES = (
    ("gpt2-nano", Layout(), [*LARGE, "--threads-per-rank", "3"], "shm", True),
    ("gpt2-nano", Layout(dp=4), [], "shm", True),
    # A bucket of each parameter, of which small ones are sent with the call.
    ("gpt2-nano", Layout(dp=4, bucket=1), [], "shm", True),
    # Parts of unequal length.
    ("gpt2-nano", Layout(dp=3), LARGE, "shm", True),
    ("gpt2-nano", Layout(dp=4), [], "threads", True),
    ("gpt2-nano", Layout(tp=2, dp=2, sp=True), [], "shm", True),
    ("gpt2-nano", Layout(cp=2, dp=2), [], "shm", True),
    ("gpt2-nano", Layout(tp=2, dp=2, zero=1), ["--threads-per-rank", "2"], "shm", True),
    ("gpt2-nano", Layout(cp=2, dp=2, zero=1), [], "shm", True),
    ("gpt2-nano", Layout(dp=2, zero=2), [], "shm", True),
    ("gpt2-nano", Layout(tp=2, dp=2, zero=2), [], "shm", True),
    # Both ends of the pipeline sum the table; one counts it.
    ("gpt2-nano", Layout(pp=2, dp=2), [], "shm", True),
    ("gpt2-nano", Layout(pp=2), [], "shm", False),
    ("gpt2-nano-untied", Layout(tp=2, dp=2), ["--bf16"], "shm", True),
    # Two ranks in a row have the same key heads.
    ("gpt2-nano-gqa", Layout(tp=4), [], "shm", True),
    ("gpt2-nano", Layout(dp=2, comm_thread=True), [], "shm", False),
    # Of two uses alone: others the last backward has summed.
    ("gpt2-nano", Layout(dp=2, overlap="grad-reduce"), [], "shm", True),
)


def norm_of(gradients):
    """Rounded once, and its root."""
    return math.sqrt(math.fsum(x * x for tensor in gradients.values() for x in tensor.values()))


def batch_of(layout):
    """Two microbatches, or more."""
    return 4 * layout.dp * layout.micro_batch


def counts_in_sums(mtc, spec, layout, options, folder):
    plan = os.path.join(folder, "plan.mlir")
    mtc.compile(spec, layout, plan,
                [*options, "--isa", "x86-64-v4", "--compile-to", "count-gradients"],
                batch=batch_of(layout))
    with open(plan, encoding="utf-8") as lines:
        return any("rt.norm" in line and " continues" in line for line in lines)


def check(mtc, report, case, data, folder):
    spec, layout, options, comm, counts = case
    name = " ".join([spec, layout.name, *options, comm])
    found = counts_in_sums(mtc, spec, layout, [o for o in options if o != "--bf16"], folder)
    report.expect(found == counts, f"{name}: expected sums that count: {counts}, found {found}")
    bundle = mtc.compile(spec, layout, os.path.join(folder, "bundle"), options,
                         batch=batch_of(layout))
    out = os.path.join(folder, "out")
    log = mtc.run(bundle, ["--data", data, "--data-type", "u8", "--steps", 2], out,
                  comm=(comm,), dumps=("grads@1", "grads@2"))
    for step in (1, 2):
        norm = norm_of(safetensors.read(os.path.join(out, f"grads@{step}.safetensors")))
        logged = log[step - 1]["grad_norm"]
        report.expect(abs(logged / norm - 1) <= ALLOWED,
                      f"{name}, step {step}: expected the norm {norm}, found {logged}")
    print(f"{name}: norms of two steps compared", flush=True)


def main():
    os.environ["OMP_WAIT_POLICY"] = "passive"
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.bin")
        corpus.write(data)
        for case in CASES:
            with tempfile.TemporaryDirectory(dir=folder) as own:
                check(mtc, report, case, data, own)
    return report.finish("norms of gradients")


if __name__ == "__main__":
    sys.exit(main())
