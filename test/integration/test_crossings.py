"""Values that cross more than a chain: any number over a boundary, between any stages.

Edits the imported IR of gpt2-nano as a person would. `long`: what the embedding makes is
added in front of the last norm, so stage 0 sends it to the last stage directly, and its
gradient comes back from there. `pairs`: the middle of each layer is added in front of the
next layer's first norm, so two values cross each boundary. Losses, gradients of step 1 and
final parameters are the same to the bit at every pp and schedule; at pp 1 nothing crosses.

usage: test_crossings.py BIN_DIR
"""

import os
import re
import sys
import tempfile

import safetensors
from edited_model import EditedModel
from layouts import Layout
from run_layout import Mtc, Report

SPEC = "gpt2-nano"
STEPS = 4
NORM = re.compile(r"^( *)(%\w+, %\w+, %\w+ = tfm\.norm layer_norm )(%\w+)(, .*)$", re.M)
LAYER = re.compile(r"tfm\.layer = (\d+) : i64")
# What is added in front of a norm, by the numbers of norms: two in each layer, and the last.
MODELS = {"long": {8: 0}, "pairs": {2: 1, 4: 3, 6: 5}}
# What the plan of each at pp 4 sends beside the chain.
FURTHER = {"long": ['activation.1 of "train" from 0 to 3', 'gradient.1 of "train" from 3 to 0',
                    'activation.1 of "eval" from 0 to 3'],
           "pairs": [f'{name} from {a} to {b}' for u in range(3) for name, a, b in
                     (('activation.1 of "train"', u, u + 1), ('gradient.1 of "train"', u + 1, u))]}
LAYOUTS = [Layout(tp, pp, 1, 0, schedule) for tp in (1, 2) for pp in (1, 2, 4)
           for schedule in ("1f1b", "gpipe") if pp > 1 or schedule == "1f1b"
           if tp == 1 or (pp, schedule) in ((1, "1f1b"), (4, "1f1b"))]


def with_sums(ir, sources):
    """The IR with a sum in front of the norms that `sources` names."""
    operands = [match.group(3) for match in NORM.finditer(ir)]
    count = iter(range(len(operands)))

    def add(match):
        number = next(count)
        if number not in sources:
            return match.group(0)
        indent, norm, value, rest = match.groups()
        layer, type = LAYER.search(rest).group(1), re.search(r"tensor<\S+?>", rest).group(0)
        marks = (f'{{tfm.id = {900 + number} : i64, tfm.layer = {layer} : i64, '
                 'tfm.phase = "forward"}')
        return (f"{indent}%sum{number} = tfm.add {value}, {operands[sources[number]]} {marks} "
                f": {type}\n{indent}{norm}%sum{number}{rest}")

    return NORM.sub(add, ir)


class Tester(EditedModel):
    def with_further(self, model, layout):
        """A file with the edited IR of a layout."""
        return self.edit(f"{model}-{layout.name}", layout,
                         lambda ir: with_sums(ir, MODELS[model]))

    def crossings(self, file):
        """What its plan says that crosses."""
        plan = self.path("plan.mlir")
        self.mtc.call("compile", file, "--compile-to", "verify-plan", "-o", plan)
        with open(plan) as text:
            return re.findall(r"pipe\.crossing (\S+ of \S+ from \d+ to \d+)", text.read())

    def bits(self, model, layout):
        log, out = self.train(f"{model}-{layout.name}", self.with_further(model, layout), STEPS,
                              dumps=("grads", "params"))
        digests = [safetensors.digest(safetensors.read(os.path.join(out, name)))
                   for name in sorted(os.listdir(out)) if name.endswith(".safetensors")]
        return [step["loss"] for step in log], digests


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, SPEC, folder)
        for model, further in FURTHER.items():
            found = tester.crossings(tester.with_further(model, Layout(pp=4)))
            missing = [row for row in further if row not in found]
            report.expect(not missing, f"{model}: expected {missing} to cross, found {found}")
            wanted = {}
            for layout in LAYOUTS:
                losses, digests = tester.bits(model, layout)
                report.expect(len(losses) == STEPS and len(digests) == 2,
                              f"{model} {layout.name}: expected {STEPS} losses, gradients and "
                              f"parameters, found {len(losses)} losses, {len(digests)} files")
                first = wanted.setdefault(layout.numerics_class, (losses, digests))
                report.expect((losses, digests) == first,
                              f"{model} {layout.name}: losses {losses}, expected {first[0]}; "
                              f"files {'differ' if digests != first[1] else 'are the same'}")
    return report.finish(f"{len(MODELS)} models with further values, {len(LAYOUTS)} layouts")


if __name__ == "__main__":
    sys.exit(main())
