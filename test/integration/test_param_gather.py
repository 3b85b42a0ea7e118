"""Parameters that are gathered in front of their first reader of a step.

With `--overlap param-gather` a replica ends a step with what it updated, and each entry
gathers a bucket before it reads it: in the forward of the first microbatch. Losses, norms,
gradients, logits, parameters between steps, those that are saved and the loss that they
are evaluated to are those of gathers at the end of the step, to the bit, for every layout;
and the plan says where each bucket is gathered.

usage: test_param_gather.py BIN_DIR
"""

import dataclasses
import json
import os
import re
import sys
import tempfile

import corpus
import precision
import safetensors
from layouts import GLOBAL_BATCH, Layout, written
from run_layout import Mtc, Report, read_log

STEPS = 3
BUCKET = 20000  # about a layer of the model
TIED, UNTIED = "gpt2-nano", "gpt2-nano-untied"
F32, BF16 = "f32", "bf16"
GATHERS, BOTH = "p2p,param-gather", "p2p,grad-reduce,param-gather"
# Spec, type, overlap and layout. Of layouts with the same bits one is run with gathers at
# the end.
RUNS = [
    (TIED, F32, GATHERS, Layout(dp=2, zero=1, bucket=BUCKET)),
    (TIED, F32, BOTH, Layout(dp=2, zero=1, recompute="full", bucket=BUCKET)),
    (TIED, F32, "param-gather", Layout(dp=2, zero=2, bucket=BUCKET)),
    (UNTIED, F32, GATHERS, Layout(dp=2, zero=1)),  # one bucket
    (TIED, F32, BOTH, Layout(dp=4, zero=1, micro_batch=4, bucket=BUCKET)),  # one microbatch
    (TIED, F32, GATHERS, Layout(1, 2, 2, 1, bucket=BUCKET)),  # a table on both ends
    (TIED, F32, BOTH, Layout(1, 2, 2, 1, "zb-h1", bucket=BUCKET)),
    (TIED, F32, "param-gather", Layout(1, 2, 2, 1, "gpipe", bucket=BUCKET)),
    (UNTIED, F32, BOTH, Layout(1, 2, 2, 1, "interleaved-1f1b", chunks=2, bucket=BUCKET)),
    (TIED, F32, GATHERS, Layout(1, 2, 2, 2, written("split-chunks"), chunks=2)),
    (TIED, F32, GATHERS, Layout(2, 1, 2, 1, sp=True, bucket=BUCKET)),
    (TIED, F32, BOTH, Layout(2, 2, 2, 1, sp=True, order="tp-cp-pp-dp")),
    (TIED, F32, GATHERS, Layout(1, 2, 2, 1, cp=2, bucket=BUCKET)),
    # Stage 0 runs a microbatch first that is not computed again, stage 1 one that is; and
    # each size of slot has one microbatch.
    (TIED, F32, BOTH, Layout(1, 2, 2, 1, recompute="microbatches=1", bucket=BUCKET)),
    (TIED, F32, GATHERS, Layout(1, 2, 2, 1, "gpipe", micro_batch=4,
                                recompute="microbatches=1", bucket=BUCKET)),
    (UNTIED, F32, BOTH, Layout(1, 2, 2, 1, "zb-h1", recompute="microbatches=2")),
    (TIED, BF16, BOTH, Layout(dp=2, zero=1, bucket=BUCKET)),
    (TIED, BF16, GATHERS, Layout(1, 2, 2, 2, "zb-h1", bucket=BUCKET)),
]


class Tester:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)

    def bits(self, spec, dtype, layout):
        """What runs compute, and where their collectives of parameters are."""
        bundle = os.path.join(self.folder, "bundle")
        self.mtc.compile(spec, layout, bundle, precision.options(dtype))
        out = os.path.join(self.folder, "out")
        saved = os.path.join(out, "saved.safetensors")
        data = ["--data", self.data, "--data-type", "u8"]
        log = self.mtc.run(bundle, [*data, "--steps", STEPS, "--save", saved], out,
                           dumps=("grads@2", "params@1", "logits"))
        self.mtc.call("run", bundle, "--quiet", "--log", os.path.join(out, "eval.jsonl"),
                      *data, "--eval", 2, "--init-from", saved)
        (row,) = read_log(os.path.join(out, "eval.jsonl"))
        evaluated = row["eval_loss"]
        digests = {name: safetensors.digest(safetensors.read(os.path.join(out, name)))
                   for name in sorted(os.listdir(out)) if name.endswith(".safetensors")}
        answer = json.loads(self.mtc.call("explain", bundle, "--json", "--collective").stdout)
        places = {(c["times"], c["fragment"]) for c in answer["collectives"]
                  if c["origin"] == "zero1"}
        steps = [(step["loss"], step["grad_norm"]) for step in log]
        return (steps, evaluated, digests), places


def first_forward(layout):
    """What the fragments are called that a stage runs first."""
    some = layout.recompute.startswith("microbatches=")
    count = GLOBAL_BATCH // layout.micro_batch // layout.dp
    # A form that one microbatch runs in any case needs no other.
    first = "" if count == 1 else "(_first)?" if some and count == 2 else "_first"
    return re.compile("_fwd" + first + ("(_recompute)?$" if some else "$"))


def checked(report, name, layout, places):
    """Whether the gathers lie where they should."""
    wrong = [(times, fragment) for times, fragment in places
             if times != 1 or not first_forward(layout).search(fragment)]
    report.expect(places and not wrong, f"{name}: expected gathers of parameters in the first "
                  f"forward only, found (times, fragment) {sorted(places)}")


def main():
    mtc, report = Mtc(), Report()
    wanted = {}
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, folder)
        for spec, dtype, overlap, layout in RUNS:
            name = f"{spec} {dtype} {overlap} {layout.name}"
            key = (spec, dtype, layout.numerics_class)
            if key not in wanted:
                wanted[key] = tester.bits(spec, dtype, layout)[0]
            found, places = tester.bits(spec, dtype,
                                        dataclasses.replace(layout, overlap=overlap))
            report.expect(found == wanted[key],
                          f"{name}: expected {wanted[key]} of gathers at the end, found {found}")
            checked(report, name, layout, places)
    return report.finish(f"{len(RUNS)} runs with gathers in the first forward")


if __name__ == "__main__":
    sys.exit(main())
