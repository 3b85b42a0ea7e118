"""Parameters of two types in one model, and the two layouts of flat buckets.

A model in bf16 whose norms are stored in f32, in a dozen layouts: bits are those of the
other layouts of the class (N4), losses, norms and gradients those of one process within
the bounds of bf16 (N5). Three oracles are exact:

  * norms begin as ones and zeros, which both types hold: step 1 has the bits of the plain
    model, and later steps have others;
  * what computes with another parameter reads it in bf16, rounded as the update rounds a
    main parameter: with all of those in f32 the bits are the plain model's, in all steps;
  * `eval` reads a file that was saved, and says of it what it says in one process.

Dense buckets have the bits of aligned ones, and less padding.

usage: test_types.py BIN_DIR
"""

import json
import os
import re
import shutil
import sys
import tempfile
from dataclasses import replace

import corpus
import precision
from layouts import SINGLE, Layout
from run_layout import Failed, Mtc, Report
from test_matrix import BOUNDS, COMMS, Model

SPEC = "gpt2-nano"
STEPS = 20
NORMS = ("*norm*",)
# All but the norms: what rounds them on the way to a product is a cast.
OTHERS = ("embed.*", "layers.*.attn.*", "layers.*.mlp.*")
BUCKET = 20_000

# Each axis, ZeRO 0 to 2, sums in the last backward, recomputation, buckets of both layouts.
# Norms are partial sums over tp under sequence parallelism.
PLAIN = [Layout(), Layout(pp=2), Layout(1, 4, schedule="gpipe"), Layout(recompute="full"),
         Layout(1, 2, schedule="zb-h1"),
         Layout(dp=2), Layout(dp=2, zero=1, bucket=BUCKET), Layout(1, 2, 2, 1),
         Layout(1, 2, 2, 0, overlap="grad-reduce"),
         Layout(dp=2, zero=2, bucket=BUCKET), Layout(1, 2, 2, 2),
         Layout(2, sp=True), Layout(2, 2, sp=True), Layout(2, 1, 2, 0, sp=True),
         Layout(2, 2, 2, 1, sp=True),
         Layout(cp=2), Layout(1, 2, cp=2, recompute="selective")]
DENSE = [Layout(dp=2, zero=1), Layout(1, 2, 2, 1, bucket=BUCKET), Layout(2, 2, 2, 1, sp=True),
         Layout(dp=2, zero=2), Layout(1, 2, 2, 2, bucket=BUCKET)]
# Where all others are in f32: tied tables on one stage and on two, split over tp or not.
ROUNDED = [Layout(), Layout(1, 2, 2, 1), Layout(2, sp=True), Layout(2, 2, 2, 2), Layout(cp=2)]


def odd_spec(folder):
    """Sizes that 64 does not divide, so that dense buckets differ from aligned ones."""
    with open(os.path.join(sys.argv[1], "..", "share", "mtc", "specs",
                           f"{SPEC}.toml")) as spec:
        text, count = re.subn(r"\nffn = 256", "\nffn = 98", spec.read())
    if count != 1:
        raise RuntimeError(f"expected ffn = 256 in {SPEC}, found {count}")
    name = os.path.join(folder, "odd.toml")
    with open(name, "w") as file:
        file.write(text)
    return name


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)
        self.spec = odd_spec(folder)
        self.bounds = replace(BOUNDS["bf16"], steps=STEPS)
        self.runs = 0

    def model(self, name):
        return Model(self.mtc, self.report, name, self.bounds, self.data, self.folder)

    def strategy(self, patterns):
        """A file that stores what matches in f32."""
        path = os.path.join(self.folder, f"{len(patterns)}.toml")
        with open(path, "w") as file:
            for pattern in patterns:
                file.write(f'[[override]]\npattern = "{pattern}"\ndtype = "f32"\n')
        return path

    def compile(self, layout, patterns=(), options=()):
        bundle = os.path.join(self.folder, "bundle")
        shutil.rmtree(bundle, ignore_errors=True)
        return self.mtc.compile(self.spec, layout, bundle,
                                [*precision.options("bf16"), "--strategy",
                                 self.strategy(patterns), *options])

    def comm(self):
        """Transports take turns."""
        self.runs += 1
        return list(COMMS)[self.runs % len(COMMS)]

    def train(self, model, layout, patterns, options=()):
        model.train(layout, self.compile(layout, patterns, options), [self.comm()])

    def run(self, model, layout, patterns):
        return model.run(layout, self.compile(layout, patterns), COMMS[self.comm()])


def report_of(bundle):
    with open(os.path.join(bundle, "report.json")) as file:
        return json.load(file)


def check_classes(tester):
    model = tester.model("norms in f32")
    for layout in [SINGLE, *PLAIN]:
        tester.train(model, layout, NORMS)
        print(f"norms in f32: {layout.name}", flush=True)
    for layout in DENSE:
        tester.train(model, layout, NORMS, ["--bucket-layout", "dense"])
        print(f"norms in f32, dense: {layout.name}", flush=True)
    print(f"{len(model.classes)} classes; worst of N5: "
          + ", ".join(f"{key} {value:.1e}" for key, value in model.worst.items()))


class ThreeReplicas(Layout):
    """A step of so many samples that three replicas can share them."""

    def options(self, global_batch=12):
        return super().options(global_batch)


def check_odd_shards(tester):
    """Of dense buckets replicas have parts that begin at odd elements, in both types."""
    for zero in (1, 2):
        layout = ThreeReplicas(dp=3, zero=zero, bucket=BUCKET)
        model = tester.model("three replicas")
        aligned, dense = (model.run(layout, tester.compile(layout, NORMS,
                                                           ["--bucket-layout", kind]),
                                    COMMS[tester.comm()]) for kind in ("aligned", "dense"))
        model.expect_same(f"aligned and dense, {layout.name}", aligned, dense)


def check_first_step(tester):
    """Ones and zeros are what they are in both types."""
    for layout in (SINGLE, Layout(2, 2, 2, 1, sp=True)):
        model = tester.model("norms")
        plain = tester.run(model, layout, ())
        wide = tester.run(model, layout, NORMS)
        model.expect_same(f"norms in f32 and in bf16, {layout.name}", plain, wide,
                          ["initial weights", "gradients of step 1"])
        tester.report.expect(plain.losses[0] == wide.losses[0]
                             and plain.losses[1:] != wide.losses[1:],
                             f"{layout.name}: expected the loss of step 1 of the plain "
                             f"model and others later, found {plain.losses} and "
                             f"{wide.losses}")


def check_rounded(tester):
    """A cast rounds a weight as the update rounds a main parameter."""
    for layout in ROUNDED:
        model = tester.model("others in f32")
        model.expect_same(f"all but norms in f32 and in bf16, {layout.name}",
                          tester.run(model, layout, ()), tester.run(model, layout, OTHERS))
        print(f"all but norms in f32: {layout.name}", flush=True)


def check_said(tester):
    """`diff` and `explain` say which type a parameter has."""
    bundles = []
    for patterns in ((), NORMS):
        bundles.append(os.path.join(tester.folder, f"said{len(patterns)}"))
        shutil.copytree(tester.compile(Layout(), patterns), bundles[-1])
    rows = json.loads(tester.mtc.call("diff", *bundles, "--json", check=False).stdout)
    types = {row["name"]: (row["a"]["dtype"], row["b"]["dtype"])
             for row in rows["differences"] if row["part"] == "parameters"}
    norms = {f"layers.{layer}.norm{i}.{part}" for layer in range(4) for i in (1, 2)
             for part in ("scale", "bias")} | {"final_norm.scale", "final_norm.bias"}
    tester.report.expect(types == {name: ("bf16", "f32") for name in norms},
                         f"diff: expected the types of the norms alone, found {types}")
    said = json.loads(tester.mtc.call("explain", bundles[1], "--parameter",
                                      "final_norm.scale", "--json").stdout)
    # The first element of its bucket that is behind the 64 of the bias.
    found = said["copies"][0]["dtype"], said["copies"][0]["param_offset"]
    tester.report.expect(found == ("f32", 4 * 64),
                         f"explain: expected f32 at byte 256, found {found}")


def check_memory(tester):
    """Four bytes of a norm's element and two of others, and no main parameters of norms."""
    for zero, dp in ((0, 1), (1, 2), (2, 2)):
        bundle = tester.compile(Layout(dp=dp, zero=zero), NORMS)
        said = report_of(bundle)
        program = os.path.join(bundle, "programs", "stage0")
        text = tester.mtc.call("inspect", program, "--json").stdout
        buckets = [b for b in json.loads(text)["buckets"] if "second_use_of" not in b]
        state, shards = said["stages"][0]["state"], dp if zero else 1
        size = {t: sum(b["elements"] for b in buckets if b["dtype"] == t)
                for t in ("f32", "bf16")}
        wanted = {"parameters": 4 * size["f32"] + 2 * size["bf16"],
                  "optimizer": (8 * size["f32"] + 12 * size["bf16"]) // shards}
        found = {name: state[name] for name in wanted}
        tester.report.expect(size["f32"] >= 9 * 128 and found == wanted,
                             f"zero {zero}: expected {wanted}, found {found}")
        forms = {(row["dtype"], row["zero"]): row["total"]
                 for row in said["bytes_per_parameter"]}
        closed = {("bf16", 0): 18, ("bf16", 1): 6 + 12 / dp, ("bf16", 2): 2 + 16 / dp,
                  ("f32", 0): 16, ("f32", 1): 8 + 8 / dp, ("f32", 2): 4 + 12 / dp}
        tester.report.expect(forms == closed,
                             f"dp {dp}: expected the closed forms {closed}, found {forms}")


def check_padding(tester):
    """Dense buckets end in less than a shard more than their parameters."""
    layout = Layout(dp=2, zero=1, bucket=BUCKET)
    found = {}
    for kind in ("aligned", "dense"):
        said = report_of(tester.compile(layout, NORMS, ["--bucket-layout", kind]))
        found[kind] = said["stages"][0]["padding"]
    print(f"padding: {found}")
    tester.report.expect(found["dense"]["elements"] < 2 * 20 < found["aligned"]["elements"]
                         and found["dense"]["bytes"] < found["aligned"]["bytes"],
                         f"expected a few elements of padding in dense buckets and many in "
                         f"aligned ones, found {found}")


def check_eval(tester):
    """Saved by eight ranks, read by one."""
    weights = os.path.join(tester.folder, "weights")
    losses = []
    for layout in (Layout(2, 2, 2, 1, sp=True), SINGLE):
        bundle = tester.compile(layout, NORMS)
        recipe = ["--data", tester.data, "--data-type", "u8"]
        if not losses:
            tester.mtc.call("run", bundle, "--quiet", *recipe, "--steps", 3, "--save", weights)
        said = tester.mtc.call("run", bundle, "--quiet", *recipe, "--init-from", weights,
                               "--eval", 2).stdout
        losses.append(json.loads(said)["eval_loss"])
    worst = abs(losses[0] - losses[1]) / losses[1]
    tester.report.expect(worst <= tester.bounds.losses,
                         f"eval of saved weights: {losses} differ by {worst:.1e}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        for check in (check_first_step, check_rounded, check_classes, check_odd_shards,
                      check_said, check_memory, check_padding, check_eval):
            check(tester)
    return report.finish("types of parameters")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(str(failed))
