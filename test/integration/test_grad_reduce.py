"""Gradients that are summed over ranks inside the last microbatch's backward.

With `--overlap grad-reduce` the sums of a bucket stand behind its last gradient, in the
backward that the last microbatch runs. Losses, norms, gradients of step 1 and final
parameters are those of sums at the end of the step, to the bit, for every layout; and the
plan says where each bucket is summed.

usage: test_grad_reduce.py BIN_DIR
"""

import dataclasses
import json
import os
import sys
import tempfile

import corpus
import precision
import safetensors
from layouts import Layout
from run_layout import Mtc, Report

STEPS = 2
BUCKET = 20000  # about a layer of the model
TIED, UNTIED = "gpt2-nano", "gpt2-nano-untied"
F32 = "f32"
# Spec, type and layout. Of layouts with the same bits one is run with sums at the end.
RUNS = [
    (TIED, F32, Layout(dp=2, bucket=BUCKET)),
    (TIED, F32, Layout(dp=2, zero=1, recompute="full", bucket=BUCKET)),
    (TIED, F32, Layout(1, 2, 2, 1, bucket=BUCKET)),
    (TIED, F32, Layout(1, 2, 2, 1, "zb-h1", bucket=BUCKET)),
    # The last microbatch is computed again on stage 0, where others are not.
    (TIED, F32, Layout(1, 2, 2, 1, recompute="microbatches=1", bucket=BUCKET)),
    (TIED, F32, Layout(1, 2, 2, 0, "interleaved-1f1b", chunks=2, bucket=BUCKET)),
    (TIED, F32, Layout(dp=2, zero=2, bucket=BUCKET)),
    (TIED, F32, Layout(dp=4, zero=1, micro_batch=4, bucket=BUCKET)),  # one microbatch
    (TIED, F32, Layout(2, 1, 2, 1, sp=True, bucket=BUCKET)),
    (TIED, F32, Layout(2, 2, sp=True)),
    (UNTIED, F32, Layout(1, 2, 2, 1, bucket=BUCKET)),
    (TIED, F32, Layout(1, 2, 2, 1, "zb-h1", cp=2, bucket=BUCKET)),
    (TIED, F32, Layout(2, sp=True, cp=2, bucket=BUCKET)),
    (TIED, "bf16", Layout(1, 2, 2, 1, "zb-h1", bucket=BUCKET)),
]


class Tester:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)

    def bits(self, spec, dtype, layout):
        """What a run computes, and where its collectives of gradients are."""
        bundle = os.path.join(self.folder, "bundle")
        self.mtc.compile(spec, layout, bundle, precision.options(dtype))
        out = os.path.join(self.folder, "out")
        log = self.mtc.run(bundle, ["--data", self.data, "--data-type", "u8", "--steps", STEPS],
                           out, dumps=("grads", "params"))
        digests = [safetensors.digest(safetensors.read(os.path.join(out, f"{name}.safetensors")))
                   for name in ("grads", "params")]
        answer = json.loads(self.mtc.call("explain", bundle, "--json", "--collective").stdout)
        places = {(c["times"], c["fragment"]) for c in answer["collectives"]
                  if c["origin"] == "gradient"}
        return ([(step["loss"], step["grad_norm"]) for step in log], digests), places


def checked(report, name, layout, places):
    """Whether the sums of gradients lie where they should."""
    microbatches = 16 // layout.micro_batch // layout.dp
    end = "_last" if microbatches > 1 else ""
    wrong = [place for place in places if layout.zero < 2 and
             (place[0] != 1 or "_bwd" not in place[1] or end not in place[1])]
    report.expect(places and not wrong, f"{name}: expected sums of gradients in the last "
                  f"backward only, found (times, fragment) {sorted(places)}")


def main():
    mtc, report = Mtc(), Report()
    wanted = {}
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, folder)
        for spec, dtype, layout in RUNS:
            name = f"{spec} {dtype} {layout.name}"
            key = (spec, dtype, layout.numerics_class)
            if key not in wanted:
                wanted[key] = tester.bits(spec, dtype, layout)[0]
            overlapped = dataclasses.replace(layout, overlap="p2p,grad-reduce")
            found, places = tester.bits(spec, dtype, overlapped)
            report.expect(found == wanted[key],
                          f"{name}: expected {wanted[key]} of sums at the end, found {found}")
            checked(report, name, layout, places)
    return report.finish(f"{len(RUNS)} runs with sums in the last backward")


if __name__ == "__main__":
    sys.exit(main())
