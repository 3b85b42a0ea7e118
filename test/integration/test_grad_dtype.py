"""Gradients that are summed in bf16.

Exact oracles, in Python's arithmetic:

  * the gradients of step 1, from those of single microbatches in fp32, which plans with
    sums in fp32 dump: rounded once when they are accumulated, in ascending order, and once
    over the ranks along dp, in rank order; under ZeRO-2 the other way round;
  * the norm of what is dumped is the norm of the log.

Layouts of a class have one loss curve, norms, gradients and parameters, to the bit (N4);
all of them follow one process (N5), and this follows the plan with sums in fp32.

usage: test_grad_dtype.py BIN_DIR [--all]

Without --all each kind of sum has one layout, three of the
five exact ones run, and fewer steps are followed.
"""

import json
import math
import os
import shutil
import struct
import sys
import tempfile
from dataclasses import replace

import corpus
import precision
import safetensors
from layouts import GLOBAL_BATCH, SINGLE, Layout
from precision import SUMS
from run_layout import Failed, Mtc, Report, relative
from small_spec import small_spec
from test_matrix import BOUNDS, COMMS, Model

SPEC = "gpt2-nano"
ALL = "--all" in sys.argv
STEPS, STEPS_TO_FOLLOW = 20, 50 if ALL else 20
BUCKET = 20_000
# Losses, relative to those with sums in fp32: a tenth of what bf16 may differ from fp32
# (test_bf16.py), as a rounding of sums is one of the many that bf16 makes.
FOLLOWS = 2e-3
# Samples of a step of the exact oracle, and of one of its microbatches.
BATCH, MICRO = 8, 2
# Four microbatches on one rank, two on each of two and one on each of four. What a second
# use of a parameter adds no dump shows, so the model is untied; small, as its oracle adds
# number by number.
UNTIED = {"name": "untied", "vocab": 250, "padded": 256, "layers": 4, "hidden": 16, "heads": 4,
          "ffn": 32, "longest": 32, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
EXACT = [Layout(micro_batch=MICRO), Layout(dp=2, micro_batch=MICRO),
         Layout(dp=4, zero=1, micro_batch=MICRO, bucket=2000),
         Layout(1, 2, 2, 1, micro_batch=MICRO), Layout(dp=2, zero=2, micro_batch=MICRO)]

# Each axis, ZeRO 0 to 2, what runs beside what, and what is computed again.
LAYOUTS = [Layout(), Layout(pp=2), Layout(1, 4, schedule="gpipe"), Layout(recompute="full"),
           Layout(1, 2, schedule="zb-h1"), Layout(1, 2, recompute="selective"),
           Layout(pp=2, schedule="interleaved-1f1b", chunks=2),
           Layout(dp=2), Layout(dp=2, zero=1, bucket=BUCKET), Layout(1, 2, 2, 1),
           Layout(1, 2, 2, 0, overlap="p2p,grad-reduce"),
           Layout(1, 2, 2, 1, overlap="p2p,grad-reduce,param-gather", bucket=BUCKET),
           Layout(dp=2, zero=1, comm_thread=True, bucket=BUCKET),
           Layout(dp=2, zero=2, bucket=BUCKET), Layout(1, 2, 2, 2),
           Layout(2), Layout(2, 2, sp=True), Layout(2, sp=True), Layout(2, 2, 2, 1, sp=True),
           Layout(2, 1, 2, 0, sp=True),
           Layout(cp=2), Layout(1, 2, cp=2, recompute="selective")]
FEW = [Layout(1, 2, schedule="zb-h1"),
       Layout(1, 2, 2, 1, overlap="p2p,grad-reduce,param-gather", bucket=BUCKET),
       Layout(dp=2, zero=2, bucket=BUCKET)]


def to_bf16(x):
    """The nearest bf16 of an fp32 value, ties to even."""
    bits, = struct.unpack("<I", struct.pack("<f", x))
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def to_f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def rounded_sum(parts):
    """Of lists of values: element by element in fp32, from the left, rounded once."""
    total = parts[0]
    for part in parts[1:]:
        total = [to_f32(a + b) for a, b in zip(total, part)]
    return [to_bf16(x) for x in total]


def accumulated(gradients):
    """Of microbatches, in their order: rounded with each."""
    total = [0.0] * len(gradients[0])
    for gradient in gradients:
        total = rounded_sum([total, gradient])
    return total


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)
        self.untied = os.path.join(folder, "untied.toml")
        with open(self.untied, "w") as file:
            file.write(small_spec(tied=False, **UNTIED))
        self.runs = 0

    def compile(self, layout, dtype, spec=SPEC, batch=GLOBAL_BATCH, options=()):
        bundle = os.path.join(self.folder, "bundle")
        shutil.rmtree(bundle, ignore_errors=True)
        self.mtc.call("compile", spec, *layout.options(batch), *precision.options(dtype),
                      *options, "--jobs", 2, "-o", bundle)
        return bundle

    def comm(self):
        """Transports take turns."""
        self.runs += 1
        return list(COMMS)[self.runs % len(COMMS)]

    def gradients(self, bundle, step=1):
        """Of a step, before any update: the rate is 0."""
        folder = os.path.join(self.folder, "grads")
        recipe = ["--data", self.data, "--data-type", "u8", "--steps", step, "--lr", 0,
                  "--min-lr", 0, "--warmup", 0, "--order", "sequential"]
        log = self.mtc.run(bundle, recipe, folder, COMMS[self.comm()],
                           dumps=[f"grads@{step}"])
        tensors = safetensors.read(os.path.join(folder, f"grads@{step}.safetensors"))
        return {name: t.values() for name, t in tensors.items()}, log[-1]["grad_norm"]


def microbatches_of(tester):
    """The gradients of each microbatch of a step, in fp32, as parts of that step. Steps of
    one microbatch take the same samples; their loss is a mean over fewer of them, by a power
    of two."""
    bundle = tester.compile(Layout(micro_batch=MICRO), "bf16", tester.untied, MICRO)
    count = BATCH // MICRO
    return [{name: [x / count for x in values] for name, values in
             tester.gradients(bundle, step)[0].items()} for step in range(1, count + 1)]


def expected_gradient(name, microbatches, layout):
    """Microbatch k of replica r is the one of number k * dp + r."""
    own = [[m[name] for m in microbatches[rank::layout.dp]] for rank in range(layout.dp)]
    if layout.zero < 2:
        return rounded_sum([accumulated(rank) for rank in own])
    # Rounded where they are staged, summed, and rounded in the shard.
    return accumulated([rounded_sum([rounded_sum([part]) for part in parts])
                        for parts in zip(*own)])


def check_exact(tester):
    """To the bit: oneDNN adds products in one order, whether they go to fp32 or bf16."""
    microbatches = microbatches_of(tester)
    for layout in EXACT if ALL else EXACT[:1] + EXACT[3:]:
        found, norm = tester.gradients(tester.compile(layout, SUMS, tester.untied, BATCH))
        wrong = [name for name, values in found.items()
                 if list(values) != expected_gradient(name, microbatches, layout)]
        tester.report.expect(len(found) == 53 and not wrong,
                             f"{layout.name}: {len(wrong)} of {len(found)} gradients are not "
                             f"the rounded sums of their microbatches: {wrong[:3]}")
        # The sum of squares is exact in the runtime, rounded here.
        squares = math.fsum(x * x for values in found.values() for x in values)
        tester.report.expect(math.isclose(norm, math.sqrt(squares), rel_tol=1e-12),
                             f"{layout.name}: the norm is {norm}, that of the gradients "
                             f"{math.sqrt(squares)}")
        print(f"{layout.name}: {len(found) - len(wrong)} gradients to the bit", flush=True)


def check_classes(tester):
    """N4 and N5, the latter within the bounds of bf16: a rounding of each sum more."""
    bounds = replace(BOUNDS["bf16"], steps=STEPS)
    model = Model(tester.mtc, tester.report, SPEC, bounds, tester.data, tester.folder)
    for layout in [SINGLE, *(LAYOUTS if ALL else FEW)]:
        same = model.train(layout, tester.compile(layout, SUMS), [tester.comm()])
        print(f"{layout.name}: {'same bits' if same else 'DIFFERS'}", flush=True)
    print(f"{len(model.classes)} classes; worst of N5: "
          + ", ".join(f"{key} {value:.1e}" for key, value in model.worst.items()))


def check_follows(tester):
    """The same plan with sums in fp32, at one microbatch and at eight."""
    for layout in (SINGLE, Layout()) if ALL else (Layout(),):
        logs, gradients = [], []
        for dtype in ("bf16", SUMS):
            bundle = tester.compile(layout, dtype)
            gradients.append(tester.gradients(bundle)[0])
            recipe = ["--data", tester.data, "--data-type", "u8", "--steps", STEPS_TO_FOLLOW,
                      "--warmup", 5, "--lr", 1e-3]
            logs.append(tester.mtc.run(bundle, recipe, os.path.join(tester.folder, "run")))
        wide, narrow = gradients
        errors = {name: safetensors.distance(wide[name], narrow[name])
                  / safetensors.norm(wide[name]) for name in wide}
        name = max(errors, key=errors.get)
        # Half a unit of bf16 for each microbatch, if all of them erred alike, and one for the
        # sum of both uses of the table.
        allowed = 2 ** -9 * (GLOBAL_BATCH / layout.micro_batch + 1)
        tester.report.expect(0 < errors[name] <= allowed,
                             f"{layout.name}: the gradient of {name} is {errors[name]:.1e} "
                             f"from that in fp32, allowed {allowed:.1e}")
        losses = [relative(a["loss"], b["loss"]) for a, b in zip(*logs)]
        print(f"{layout.name}: gradients within {errors[name]:.1e} of those in fp32, losses "
              f"within {max(losses):.1e}", flush=True)
        tester.report.expect(len(losses) == STEPS_TO_FOLLOW and 0 < max(losses) <= FOLLOWS,
                             f"{layout.name}: the loss is {max(losses):.1e} from that with "
                             f"sums in fp32, allowed {FOLLOWS}")


def check_wide_parameters(tester):
    """Parameters that are stored in f32 keep gradients in f32."""
    strategy = os.path.join(tester.folder, "norms.toml")
    with open(strategy, "w") as file:
        file.write('[[override]]\npattern = "*norm*"\ndtype = "f32"\n')
    for layout in (Layout(1, 2, 2, 1), Layout(dp=2, zero=2))[0 if ALL else 1:]:
        bundle = tester.compile(layout, SUMS, options=["--strategy", strategy])
        gradients, norm = tester.gradients(bundle)
        narrow = {name for name, values in gradients.items()
                  if list(values) == rounded_sum([values])}
        norms = {name for name in gradients if "norm" in name}
        tester.report.expect(narrow == set(gradients) - norms and norm > 0,
                             f"{layout.name}: expected gradients in bf16 of all but norms, "
                             f"found them of {sorted(narrow ^ (set(gradients) - norms))}, too")


def check_said(tester):
    """What commands say of the type."""
    bundles = {}
    for dtype in ("bf16", SUMS):
        bundles[dtype] = os.path.join(tester.folder, f"said-{dtype}")
        shutil.copytree(tester.compile(Layout(dp=2, zero=1), dtype), bundles[dtype])
        with open(os.path.join(bundles[dtype], "report.json")) as file:
            found = json.load(file)["grad_dtype"]
        tester.report.expect(found == ("f32" if dtype == "bf16" else "bf16"),
                             f"{dtype}: the report says gradients in {found}")
    rows = json.loads(tester.mtc.call("diff", *bundles.values(), "--json",
                                      check=False).stdout)["differences"]
    types = {(row["part"], row["name"]): (row["a"], row["b"]) for row in rows}
    tester.report.expect(types.get(("plan", "grad_dtype")) == ("f32", "bf16"),
                         f"diff: expected the types of gradients, found {sorted(types)}")
    said = json.loads(tester.mtc.call("explain", bundles[SUMS], "--parameter",
                                      "final_norm.scale", "--json").stdout)["copies"][0]
    # The first element of its bucket that is behind the 64 of the bias.
    found = said["grad_dtype"], said["ranks"][0]["gradient"]["offset"]
    tester.report.expect(found == ("bf16", 2 * 64),
                         f"explain: expected bf16 at byte 128, found {found}")


def check_options(tester):
    """Megatron-LM's name of the option, and what does not go together."""
    hashes = set()
    for option in (["--grad-dtype", "bf16"], ["--grad-reduce-in-bf16"]):
        with open(os.path.join(tester.compile(SINGLE, "bf16", options=option),
                               "report.json")) as file:
            hashes.add(json.load(file)["plan_hash"])
    tester.report.expect(len(hashes) == 1, "both names of the option give one plan")
    out = os.path.join(tester.folder, "rejected")
    for options, code, words in (
            (["--grad-dtype", "bf16"], 4, "expected dtype = bf16 with grad_dtype = bf16"),
            (["--grad-dtype", "f32", "--grad-reduce-in-bf16"], 2, "excludes")):
        done = tester.mtc.call("compile", SPEC, *SINGLE.options(), *options, "-o", out,
                               check=False)
        tester.report.expect(done.returncode == code and words in done.stderr
                             and not os.path.exists(out),
                             f"{options}: expected exit {code} and '{words}', found "
                             f"{done.returncode}: {done.stderr.strip()}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        for check in (check_options, check_said, check_exact, check_follows,
                      check_wide_parameters, check_classes):
            check(tester)
    return report.finish("gradients in bf16")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(str(failed))
