"""Compiled programs against the float64 goldens of PyTorch, at one rank and at eight.

usage: test_goldens.py BIN_DIR GOLDEN_DIR [--gpu STAND_INS]

With --gpu: programs for a GPU, under its stand-ins, for a step or two.
"""

import json
import os
import sys
import tempfile
from dataclasses import dataclass

import precision
import safetensors
from gpu_runs import GpuMtc
from layouts import SINGLE, TP2_CP2_PP2, TP2_PP2_DP2, Layout
from run_layout import Mtc, Report, relative

SPECS = {"tied": ("gpt2-nano-nodrop", (1, 2)),
         "untied": ("gpt2-nano-untied-nodrop", (1, 2)),
         "rms": ("gpt2-nano-rms-nodrop", (1,))}

# Programs for a GPU: golden, layout, type and steps.
ON_GPU = (("tied-1", Layout(tp=2, pp=2), "f32", 2), ("untied-1", Layout(dp=2, zero=1), "f32", 1),
          ("rms-1", Layout(pp=2), "f32", 1), ("tied-2", Layout(tp=2, sp=True), "bf16", 2))


@dataclass(frozen=True)
class Bounds:
    """Relative, of losses and norms, and of gradients, which are at least `floor` of the global
    norm; absolute, of logits."""
    scalars: float
    gradients: float
    floor: float
    logits: float


# The losses are means of 512 terms of fp32, and each step adds the error of the
# weights; PyTorch's own fp32 is up to 1e-6 away (float32_relative_error).
# A gradient of fp32 goes through about 50 operations of 6e-8 each, some of which
# cancel. The floor is for the biases of the keys: zero but for rounding.
# Logits are sums of 64 products of a normed vector (norm 8) and an embedding of
# deviation 0.1: the terms' magnitudes add up to about 5, times 6e-8 for the product
# and as much again for the depth of 4 layers before it. A wrong head or mask
# gives 1e-1 and more.
F32 = Bounds(1e-5, 1e-4, 1e-6, 1e-5)
# In bf16, of unit 2^-9: some 30 roundings lie between a weight and a gradient (2e-3 * sqrt(30) =
# 1.1e-2), of which tensors whose gradients cancel have more: a hundredth of the global norm is
# the floor. Logits of magnitude 5 have five roundings of their own; losses are means.
BF16 = Bounds(5e-3, 5e-2, 1e-2, 1e-1)


def check_log(report, what, log, golden, steps=None, bounds=F32):
    steps = steps or golden["steps"]
    if not report.expect(len(log) == steps, f"{what}: expected {steps} steps, "
                         f"found {len(log)}"):
        return
    for key, values in (("loss", golden["losses"]),
                        ("grad_norm", golden["grad_norms"])):
        errors = [safetensors.finite(relative(want, step[key]))
                  for want, step in zip(values, log)]
        worst = max(range(len(errors)), key=errors.__getitem__)
        print(f"  {key:9} within {errors[worst]:.1e} (step {worst + 1})")
        report.expect(errors[worst] <= bounds.scalars,
                      f"{what}: {key} of step {worst + 1} is {errors[worst]:.2e} "
                      f"from the golden, allowed {bounds.scalars}")


def check_gradients(report, what, actual, expected, bounds=F32):
    wanted = {name[len("grad."):]: tensor.values()
              for name, tensor in expected.items() if name.startswith("grad.")}
    found = {name: tensor.values() for name, tensor in actual.items()}
    ratio, name = safetensors.worst_gradient(wanted, found, bounds.gradients, bounds.floor)
    print(f"  gradients within {ratio * bounds.gradients:.1e} ({name})")
    report.expect(ratio <= 1, f"{what}: gradient of {name} is {ratio:.3g} times "
                  "as far from the golden as allowed")


def check_logits(report, what, actual, expected, bounds=F32):
    """Dumped are all positions and the padded vocabulary."""
    golden, positions = expected["logits"], expected["logits_positions"].values()
    batch, count, vocab = golden.shape
    dumped_batch, seq, padded = actual["logits"].shape
    report.expect(dumped_batch == batch, f"{what}: expected logits of {batch} "
                  f"samples, found {dumped_batch}")
    wanted, found = golden.values(), actual["logits"].values()
    worst = 0.0
    for sample in range(batch):
        for index, position in enumerate(positions):
            row = (sample * count + index) * vocab
            start = (sample * seq + position) * padded
            for w, f in zip(wanted[row:row + vocab], found[start:start + vocab]):
                worst = max(worst, safetensors.finite(abs(w - f)))
    print(f"  logits    within {worst:.1e}")
    report.expect(worst <= bounds.logits, f"{what}: a logit is {worst:.2e} from the "
                  f"golden, allowed {bounds.logits}")


def check_eval(mtc, report, bundle, recipe, weights, golden, what, bounds=F32):
    """The entry `eval` computes the loss of the first step, and trains nothing."""
    result = json.loads(mtc.call("run", bundle, "--eval", 1, "--init-from", weights,
                                 *recipe).stdout)
    error = safetensors.finite(relative(golden["losses"][0], result["eval_loss"]))
    print(f"  eval loss within {error:.1e}")
    report.expect(error <= bounds.scalars, f"{what}: the loss of eval is {error:.2e} from "
                  f"the golden of step 1, allowed {bounds.scalars}")


def check_run(mtc, report, bundle, golden_dir, folder, what, steps=None, bounds=F32):
    with open(os.path.join(golden_dir, "expected.json")) as file:
        golden = json.load(file)
    data = ["--data", os.path.join(golden_dir, "data.bin"), "--data-type", "u8",
            "--order", "sequential"]
    steps = steps or golden["steps"]
    recipe = [*data, "--steps", steps, "--lr", golden["max_lr"], "--decay-steps", golden["steps"],
              "--min-lr", golden["min_lr"], "--warmup", golden["warmup"]]
    weights = os.path.join(golden_dir, "weights.safetensors")
    print(what, flush=True)
    log = mtc.run(bundle, recipe, folder, dumps=("grads", "logits"),
                  extra=("--init-from", weights))
    expected = safetensors.read(os.path.join(golden_dir, "expected.safetensors"))
    check_log(report, what, log, golden, steps, bounds)
    check_gradients(report, what, safetensors.read(
        os.path.join(folder, "grads.safetensors")), expected, bounds)
    check_logits(report, what, safetensors.read(
        os.path.join(folder, "logits.safetensors")), expected, bounds)
    check_eval(mtc, report, bundle, data, weights, golden, what, bounds)


def check_gpu(mtc, report, goldens):
    with tempfile.TemporaryDirectory() as folder:
        for name, layout, dtype, steps in ON_GPU:
            bundle = mtc.compile(SPECS[name.split("-")[0]][0], layout, os.path.join(folder, name),
                                 precision.options(dtype))
            check_run(mtc, report, bundle, os.path.join(goldens, name),
                      os.path.join(folder, f"run-{name}"), f"{name} at {layout.name} in {dtype}",
                      steps, F32 if dtype == "f32" else BF16)
    return report.finish("goldens on a GPU")


def main():
    goldens = os.path.join(sys.argv[2], "gpt2")
    report = Report()
    if sys.argv[3:4] == ["--gpu"]:
        return check_gpu(GpuMtc(sys.argv[4]), report, goldens)
    mtc = Mtc()
    with tempfile.TemporaryDirectory() as temporary:
        for model, (spec, seeds) in SPECS.items():
            for layout, threads in ((SINGLE, 1), (SINGLE, 2), (SINGLE, 3), (TP2_PP2_DP2, 1),
                                    (TP2_CP2_PP2, 1)):
                place = f"{layout.name}-{threads}"
                bundle = os.path.join(temporary, f"{model}-{place}")
                mtc.compile(spec, layout, bundle, ["--threads-per-rank", threads])
                for seed in seeds:
                    name = f"{model}-{seed}"
                    check_run(mtc, report, bundle, os.path.join(goldens, name),
                              os.path.join(temporary, f"{name}-{place}"),
                              f"{name} at {layout.name}, {threads} threads a rank")
    return report.finish("goldens")


if __name__ == "__main__":
    sys.exit(main())
