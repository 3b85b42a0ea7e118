"""fp16 with loss scaling.

  * Against PyTorch (golden/fp16): 20 steps, of which the first and some later ones overflow.
    Scales and skipped steps are equal, losses and norms within what rounding moves.
  * A skipped step changes nothing, bitwise: no parameter, no state of the optimizer, no count
    of updates, no learning rate; the samples are used up.
  * Layouts of a class have the same bits (N4), skipped steps included, and all agree with one
    process (N5), with sums of gradients in fp32 and in fp16.

usage: test_fp16.py BIN_DIR GOLDEN_DIR [--all]

Without --all some of the layouts run.
"""

import json
import os
import shutil
import sys
import tempfile

import checkpoints
import corpus
import precision
from layouts import SINGLE, TP2_PP2_DP2, Layout
from run_layout import Mtc, Report, relative
from test_matrix import BOUNDS, Model

# Some 30 roundings by up to 2^-11 lie between a weight and the loss; with random signs, and
# averaged over 512 tokens, they move it by 2^-11 * sqrt(30 / 512) / 3 = 4e-5 at the most; the
# same emulation in float32, which rounds otherwise now and then, is 1.1e-5 away
# (float32_relative_error). A norm averages over 52 tensors: 2^-11 * sqrt(30 / 52) / 3 = 1.2e-4
# of one step, and each step adds the error of the weights before it (1.3e-4 in float32).
LOSS, NORM = 5e-5, 6e-4
BUCKET = 20_000
# Each axis, ZeRO 0 to 2, what runs beside what, and what is computed again.
LAYOUTS = [Layout(), Layout(1, 2, 2, 1, overlap="p2p,grad-reduce,param-gather", bucket=BUCKET),
           Layout(dp=2, zero=2, bucket=BUCKET),
           Layout(2, 2, sp=True, recompute="selective"),
           Layout(pp=2, schedule="interleaved-1f1b", chunks=2, recompute="full"),
           Layout(1, 2, schedule="zb-h1"), Layout(cp=2)]


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def bundle(self, spec, layout, dtype="fp16"):
        bundle = self.path("bundle")
        shutil.rmtree(bundle, ignore_errors=True)
        return self.mtc.compile(spec, layout, bundle, precision.options(dtype))


def golden_recipe(golden, data):
    scaler = (part for key in ("initial_loss_scale", "min_loss_scale", "loss_scale_window",
                               "hysteresis")
              for part in (f"--{key.replace('_', '-')}", golden[key]))
    return ["--data", data, "--data-type", "u8", "--order", "sequential", "--steps",
            golden["steps"], "--lr", golden["max_lr"], "--min-lr", golden["min_lr"],
            "--warmup", golden["warmup"], *scaler]


def check_golden(tester, goldens):
    with open(os.path.join(goldens, "fp16", "expected.json")) as file:
        golden = json.load(file)
    model = os.path.join(goldens, "gpt2", "tied-1")
    recipe = golden_recipe(golden, os.path.join(model, "data.bin"))
    report = tester.report
    for layout in (SINGLE, TP2_PP2_DP2):
        log = tester.mtc.run(tester.bundle("gpt2-nano-nodrop", layout), recipe,
                             tester.path("run"), extra=(
                                 "--init-from", os.path.join(model, "weights.safetensors")))
        for key in ("loss_scale", "skipped_steps"):
            wanted, found = ([step[key] for step in run] for run in (golden["log"], log))
            report.expect(wanted == found, f"{layout.name}: expected {key} {wanted}, found "
                          f"{found}")
        for key, allowed in (("loss", LOSS), ("grad_norm", NORM)):
            errors = [relative(a[key], b[key]) for a, b in zip(golden["log"], log)
                      if a[key] and b[key]]
            print(f"{layout.name}: {key} within {max(errors):.1e} of {len(errors)} steps")
            report.expect(len(errors) >= 12 and max(errors) <= allowed,
                          f"{layout.name}: {key} is {max(errors):.1e} from PyTorch's, "
                          f"allowed {allowed}")


def check_skipped(tester, data):
    """Every step has a checkpoint: all parameters and states, by their digests."""
    for layout in (Layout(dp=2, zero=2, bucket=BUCKET), TP2_PP2_DP2):
        folder = tester.path("checkpoints")
        shutil.rmtree(folder, ignore_errors=True)
        log = tester.mtc.run(
            tester.bundle("gpt2-nano", layout),
            ["--data", data, "--data-type", "u8", "--steps", 10, "--initial-loss-scale",
             2 ** 27, "--loss-scale-window", 2, "--checkpoints", folder, "--save-interval", 1],
            tester.path("run"))
        skipped = [step["grad_norm"] is None for step in log]
        tester.report.expect(any(skipped[1:]) and not all(skipped),
                             f"{layout.name}: expected some steps that overflow, found {log}")
        manifests = [checkpoints.manifest(checkpoints.of_step(folder, step))
                     for step in checkpoints.steps(folder)]
        for step in range(1, len(log)):
            same = manifests[step]["sums"] == manifests[step - 1]["sums"]
            tester.report.expect(same == skipped[step],
                                 f"{layout.name}: step {step + 1}, which was "
                                 f"{'' if skipped[step] else 'not '}skipped, changed "
                                 f"{'nothing' if same else 'something'}")
            tester.report.expect((log[step]["lr"] == log[step - 1]["lr"]) == skipped[step - 1],
                                 f"{layout.name}: the rate of step {step + 1} is that of the "
                                 "next update")
        counts = [(m["step"], m["samples"], m.get("skipped_steps", 0)) for m in manifests]
        expected = [(k + 1, 16 * (k + 1), sum(skipped[:k + 1])) for k in range(len(log))]
        tester.report.expect(counts == expected,
                             f"{layout.name}: expected step, samples and skipped steps "
                             f"{expected}, found {counts}")
        print(f"{layout.name}: {sum(skipped)} of {len(log)} steps skipped", flush=True)


def check_classes(tester, data):
    for dtype in ("fp16", precision.FP16_SUMS):
        model = Model(tester.mtc, tester.report, "gpt2-nano", BOUNDS["fp16"], data,
                      tester.folder)
        # What sums in fp16 touch is in the first ones.
        layouts = LAYOUTS if dtype == "fp16" else LAYOUTS[:3]
        if "--all" not in sys.argv:
            layouts = [LAYOUTS[1], LAYOUTS[4]] if dtype == "fp16" else LAYOUTS[2:3]
        for number, layout in enumerate([SINGLE, *layouts]):
            same = model.train(layout, tester.bundle("gpt2-nano", layout, dtype),
                               [("shm", "threads")[number % 2]])
            print(f"{dtype} {layout.name}: {'same bits' if same else 'DIFFERS'}", flush=True)
        skipped = model.reference.norms.count(None)
        tester.report.expect(skipped > 0, f"{dtype}: expected steps that overflow, found none")
        print(f"{dtype}: {skipped} steps skipped; worst of N5: "
              + ", ".join(f"{key} {value:.1e}" for key, value in model.worst.items()))


def check_report(tester):
    """How products are done is said, and what is scaled needs fp16."""
    printed = tester.mtc.call("compile", "gpt2-nano", *SINGLE.options(), "--fp16", "-o",
                              tester.path("named")).stdout
    tester.report.expect("fp16 (products of f16 values in f32)" in printed,
                         f"expected the report to say how products are done, found {printed}")
    done = tester.mtc.call("compile", "gpt2-nano", *SINGLE.options(), "--grad-dtype", "fp16",
                           "-o", tester.path("none"), check=False)
    words = "expected dtype = fp16 with grad_dtype = fp16"
    tester.report.expect(done.returncode == 4 and words in done.stderr,
                         f"expected exit 4 and '{words}', found {done.returncode}: "
                         f"{done.stderr}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, folder)
        data = tester.path("data.bin")
        corpus.write(data)
        check_golden(tester, sys.argv[2])
        check_skipped(tester, data)
        check_classes(tester, data)
        check_report(tester)
    return report.finish("fp16")


if __name__ == "__main__":
    sys.exit(main())
