"""Products by kernels of our own, which are the default, and by oneDNN.

Losses, norms, gradients of step 1 and final parameters of a training run are the same to
the bit at 1, 2 and 3 threads per rank, in each type, and where OMP_THREAD_LIMIT allows
fewer than the plan has, and where what kernels make of a product element by element is
done within it (`--gemm-epilogues pointwise`), also of weights that are packed once a step
(`--prepack always`); under AVX2 and AVX-512 so are
those of the products in f32, which unit tests compare (the kernels of other ops differ).
Against PyTorch's goldens both are as near. Every product of the plan says whose it is.

usage: test_own_products.py BIN_DIR GOLDEN_DIR
"""

import json
import os
import sys
import tempfile

import corpus
import precision
import safetensors
from layouts import SINGLE, Layout
from run_layout import Mtc, Report
from test_goldens import BF16, F32, SPECS, check_run

STEPS = 3
ONEDNN = ["--gemm", "onednn"]
RUNS = (("gpt2-nano", "f32", SINGLE, (1, 2, 3)), ("gpt2-nano", "bf16", SINGLE, (1, 2, 3)),
        ("gpt2-nano", "fp16", SINGLE, (1, 3)), ("gpt2-nano", precision.SUMS, SINGLE, (1, 3)),
        ("gpt2-nano-untied", "f32", Layout(tp=2), (1, 2)))
ODD = ["--set", "model.hidden=135", "--set", "model.heads=3", "--set", "model.ffn=211"]
# Golden, type and steps, by oneDNN: `integration_goldens` has all by our own.
GOLDENS = (("tied-1", "f32", 5), ("untied-2", "f32", 2), ("rms-1", "bf16", 2))


def bits(mtc, bundle, data, folder):
    log = mtc.run(bundle, ["--data", data, "--data-type", "u8", "--steps", STEPS], folder,
                  dumps=("grads", "params"))
    dumps = [safetensors.digest(safetensors.read(os.path.join(folder, f"{name}.safetensors")))
             for name in ("grads", "params")]
    return [(step["loss"], step["grad_norm"]) for step in log], dumps


def kernels(mtc, bundle):
    """What computes each product of each program."""
    folder = os.path.join(bundle, "programs")
    return {row.get("kernel") for name in os.listdir(folder) if "." not in name
            for row in json.loads(mtc.call("inspect", os.path.join(folder, name),
                                           "--json").stdout)["gemms"]}


def check_epilogues(mtc, report, spec, layout, options, expected, data, folder):
    """The same bits where kernels continue products; else none does."""
    plan, bundle = os.path.join(folder, "plan.mlir"), os.path.join(folder, "bundle")
    continued = {}
    for epilogues in ("none", "pointwise"):
        chosen = [*options, "--gemm-epilogues", epilogues]
        mtc.compile(spec, layout, plan, [*chosen, "--compile-to", "assign-streams"])
        with open(plan, encoding="utf-8") as lines:
            continued[epilogues] = sum("rt.launch" in line and " continues " in line
                                        for line in lines)
    name = f"{spec} {' '.join(map(str, options))}"
    report.expect(continued["pointwise"] > 0 and continued["none"] == 0,
                  f"{name}: expected products with and without, found {continued}")
    mtc.compile(spec, layout, bundle, chosen)
    found = bits(mtc, bundle, data, os.path.join(folder, "out"))
    report.expect(found == expected,
                  f"{name}: with epilogues other bits: {found} and {expected}")
    mtc.compile(spec, layout, bundle, [*chosen, "--prepack", "always"])
    report.expect("own_packed" in kernels(mtc, bundle), f"{name}: expected products of packed "
                  f"weights, found {kernels(mtc, bundle)}")
    found = bits(mtc, bundle, data, os.path.join(folder, "out"))
    report.expect(found == expected,
                  f"{name}: of packed weights other bits: {found} and {expected}")


def check_odd_sizes(mtc, report, folder):
    """Blocks that end inside vectors of columns."""
    data = os.path.join(folder, "data.bin")
    for dtype, threads in (("f32", 2), ("bf16", 3)):
        options = [*ODD, *precision.options(dtype), "--threads-per-rank", threads]
        bundle = mtc.compile("gpt2-nano", SINGLE, os.path.join(folder, "bundle"), options)
        found = bits(mtc, bundle, data, os.path.join(folder, "out"))
        check_epilogues(mtc, report, "gpt2-nano", SINGLE, options, found, data, folder)


def check_threads(mtc, report, folder):
    data = os.path.join(folder, "data.bin")
    corpus.write(data)
    for spec, dtype, layout, counts in RUNS:
        found = {}
        for threads in counts:
            bundle = os.path.join(folder, "bundle")
            mtc.compile(spec, layout, bundle, [*precision.options(dtype), "--threads-per-rank", threads])
            # Gradients in fp32 are stored past the caches.
            expected = {"own"} if dtype == precision.SUMS else {"own", "own_streamed"}
            report.expect(kernels(mtc, bundle) == expected,
                          f"{spec} {dtype}: expected all products by own kernels, found "
                          f"{kernels(mtc, bundle)}")
            found[threads] = bits(mtc, bundle, data, os.path.join(folder, "out"))
        # The last bundle again, by a team with fewer threads than were planned.
        os.environ["OMP_THREAD_LIMIT"] = "1"
        limited = bits(mtc, bundle, data, os.path.join(folder, "out"))
        del os.environ["OMP_THREAD_LIMIT"]
        report.expect(limited == found[1], f"{spec} {dtype} at {layout.name}: a limit of one "
                      f"thread has other bits: {limited} and {found[1]}")
        check_epilogues(mtc, report, spec, layout,
                        [*precision.options(dtype), "--threads-per-rank", counts[-1]],
                        found[1], data, folder)
        for threads in counts[1:]:
            report.expect(found[threads] == found[1],
                          f"{spec} {dtype} at {layout.name}: {threads} threads have other "
                          f"bits than one: {found[threads]} and {found[1]}")
        print(f"{spec} {dtype} at {layout.name}: bits at {counts} threads compared", flush=True)


def check_goldens(mtc, report, goldens, folder):
    for name, dtype, steps in GOLDENS:
        if not precision.library_has(dtype):
            print(f"  {name} in {dtype}: oneDNN has no kernels for plans on this processor")
            continue
        bundle = mtc.compile(SPECS[name.split("-")[0]][0], SINGLE, os.path.join(folder, name),
                             [*precision.options(dtype), *ONEDNN])
        report.expect(kernels(mtc, bundle) == {None},
                      f"{name} {dtype}: expected all products by oneDNN, found "
                      f"{kernels(mtc, bundle)}")
        check_run(mtc, report, bundle, os.path.join(goldens, name),
                  os.path.join(folder, f"run-{name}"), f"{name} in {dtype} by oneDNN", steps,
                  F32 if dtype == "f32" else BF16)


def main():
    # Where other tests run, threads that wait must not take their time.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        check_threads(mtc, report, folder)
        check_odd_sizes(mtc, report, folder)
        check_goldens(mtc, report, os.path.join(sys.argv[2], "gpt2"), folder)
    return report.finish("products of our own and by oneDNN")


if __name__ == "__main__":
    sys.exit(main())
