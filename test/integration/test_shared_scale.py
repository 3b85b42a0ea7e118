"""A parameter that all heads share: its gradient is a sum over the ranks that split them.

Puts an RMS norm over `head_dim` with one scale for all heads on the queries of each layer
of gpt2-nano-sepqkv, by an edit of the imported IR as a person would make it. The
gradients of the scales, and all others, are those of one rank for tp 2 and 4; and a
plan without the all-reduce that makes them so, once per step, is rejected.

usage: test_shared_scale.py BIN_DIR
"""

import os
import re
import sys
import tempfile

import safetensors
from edited_model import EditedModel
from layouts import Layout
from run_layout import Mtc, Report
from test_matrix import BOUNDS

SPEC = "gpt2-nano-sepqkv"
SINGLE = Layout(micro_batch=16)
# A bias of keys moves all scores of a query alike: its gradient is 0, but for rounding.
ZERO = "attn.k.bias"
LAYOUTS = (Layout(tp=2), Layout(tp=4), Layout(tp=2, dp=2, zero=1), Layout(tp=2, pp=2))
ATTENTION = re.compile(r"^( *)(%\w+), (%\w+) = tfm\.attention (%\w+), (.*)$", re.M)
QUERY = re.compile(r"\((tensor<\d+x\d+x\d+x(\d+)xf32>)")
LAYER = re.compile(r"tfm\.layer = (\d+) : i64")
REDUCED = re.compile(r' *rt\.collective all_reduce .* group tp .*origin = "gradient"')


def with_query_norms(ir):
    """The imported IR with a norm in front of each attention."""
    arguments = []

    def norm(match):
        indent, out, lse, query, rest = match.groups()
        layer = LAYER.search(rest).group(1)
        type, head_dim = QUERY.search(rest).groups()
        rows = type.replace(f"x{head_dim}xf32", "xf32")
        scale = f"%query_scale{layer}"
        arguments.append(
            f'{scale}: tensor<{head_dim}xf32> {{tfm.param = #tfm.param<name = '
            f'"layers.{int(layer) - 1}.attn.q_norm.scale", axes = ["head_dim"], init = ones, '
            f'std = 0.0, decay = false>}}')
        marks = (f'{{eps = 1.0e-05 : f64, tfm.id = {900 + int(layer)} : i64, '
                 f'tfm.layer = {layer} : i64, tfm.phase = "forward"}}')
        return (f"{indent}%normed{layer}, %scaled{layer} = tfm.norm rms_norm {query}, {scale} "
                f"{marks} : {type}, tensor<{head_dim}xf32> -> {type}, {rows}\n"
                f"{indent}{out}, {lse} = tfm.attention %normed{layer}, {rest}")

    edited = ATTENTION.sub(norm, ir)
    return edited.replace("}) -> (tensor<f32> {tfm.result",
                          "}, " + ", ".join(arguments) + ") -> (tensor<f32> {tfm.result", 1)


class Tester(EditedModel):
    def gradients(self, name, layout):
        file = self.edit(name, layout, with_query_norms)
        _, out = self.train(name, file, 1, dumps=("grads",))
        return {name: tensor.values() for name, tensor in
                safetensors.read(os.path.join(out, "grads.safetensors")).items()
                if not name.endswith(ZERO)}

    def without_reduction(self, layout):
        """How a compilation ends whose sums over tp are not made: its message."""
        file, cut = self.edit("whole", layout, with_query_norms), self.path("cut.mlir")
        self.mtc.call("compile", file, "--compile-to", "shard-optimizer", "-o", cut)
        with open(cut) as text:
            kept = [line for line in text if not REDUCED.match(line)]
        with open(cut, "w") as file:
            file.writelines(kept)
        return self.mtc.call("compile", cut, "-o", self.path("none"), check=False)


def main():
    mtc, report, bounds = Mtc(), Report(), BOUNDS["f32"]
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, SPEC, folder)
        wanted = tester.gradients("single", SINGLE)
        scales = [name for name in wanted if "q_norm" in name]
        report.expect(len(scales) == 4 and all(safetensors.norm(wanted[s]) > 1e-6 for s in scales),
                      f"expected four scales with gradients, found {scales}")
        for layout in LAYOUTS:
            found = tester.gradients(layout.name, layout)
            ratio, name = safetensors.worst_gradient(wanted, found, bounds.gradients,
                                                     bounds.floor)
            report.expect(ratio <= 1, f"{layout.name}: the gradient of {name} is "
                          f"{ratio * bounds.gradients:.2e} from one rank's, allowed "
                          f"{bounds.gradients}")
        done = tester.without_reduction(Layout(tp=2))
        report.expect(done.returncode == 4 and
                      "to be partial sums over tp" in done.stderr and
                      "layers.3.attn.q_norm.scale" in done.stderr,
                      f"expected a lost reduction to be rejected, found exit code "
                      f"{done.returncode}: {done.stderr[:300]}")
    return report.finish(f"{len(LAYOUTS)} layouts with a scale that heads share")


if __name__ == "__main__":
    sys.exit(main())
