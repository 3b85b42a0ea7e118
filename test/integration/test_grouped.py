"""Grouped queries: several heads of queries read one of keys and values.

  oracle   a model with 2 or 1 of them has the loss of a model with as many as of queries,
           whose weights repeat its own, and its gradients are the sums of those
  layouts  with 4, 2, 1 and an uneven number of them, over tp 1 to 8: fewer than ranks
           (these share them), as many and more, beside each axis. Initial weights, bits
           of a class and distance from one rank are those of the layout matrix (N1, N4, N5)

usage: test_grouped.py BIN_DIR [--dtype bf16] [--turns [N]] [part of a layout's name]
With --turns every Nth layout is trained (2 if nothing is said).
"""

import argparse
import array
import os
import re
import shutil
import sys
import tempfile
from dataclasses import replace

import corpus
import precision
import safetensors
from layouts import Layout, SINGLE
from run_layout import Mtc, Report, relative
from small_spec import small_spec
from test_matrix import BOUNDS, Model

STEPS = 20
# One product in another order of sums: of fp32, as between layouts (N5).
ORACLE = BOUNDS["f32"]

# Kinds of projections and heads of keys and values, with the layouts that are trained.
# Ranks share heads wherever tp is larger than their number.
EVERY = (Layout(2), Layout(4), Layout(8))
CASES = {
    ("separate", 8, 4): EVERY,
    ("separate", 8, 2): EVERY + (
        Layout(4, sp=True), Layout(4, 2), Layout(4, 2, sp=True), Layout(4, 1, 2, 1),
        Layout(4, 1, 2, 2, sp=True), Layout(4, 1, 2, 0), Layout(4, cp=2),
        Layout(4, cp=2, sp=True), Layout(2, 2, 2, 1), Layout(4, 2, recompute="full"),
        Layout(4, 2, schedule="zb-h1", sp=True),
        Layout(4, 2, schedule="interleaved-1f1b", chunks=2),
        Layout(4, 1, 2, 1, overlap="grad-reduce"), Layout(4, recompute="selective")),
    ("separate", 8, 1): EVERY + (Layout(2, 2, 2, 1), Layout(4, sp=True)),
    # Four ranks have 3 of 12 heads, and two of 6: the middle of three is read by two ranks.
    ("separate", 12, 6): (Layout(2), Layout(4), Layout(4, 2, sp=True)),
    ("fused", 8, 4): (Layout(2), Layout(4), Layout(2, cp=2), Layout(2, 2, 2, 1, sp=True)),
    # Stored in slices where ranks share heads.
    ("fused", 8, 2): (
        Layout(4), Layout(8), Layout(4, 2, sp=True), Layout(4, 1, 2, 1),
        Layout(4, 1, 2, 2, sp=True), Layout(4, cp=2), Layout(4, 2, recompute="full"),
        Layout(4, 2, schedule="interleaved-1f1b", chunks=2)),
    ("fused", 8, 1): (Layout(cp=2), Layout(1, 2, 2, 1), Layout(2, 2, 2, 1), Layout(4)),
    ("fused", 12, 6): (Layout(2), Layout(4), Layout(4, 2, sp=True)),
}


def spec_text(qkv, heads, kv_heads, dropout=0.1):
    return small_spec(True, dropout, name="grouped", vocab=250, padded=256, layers=4,
                      hidden=8 * heads, heads=heads, kv_heads=kv_heads, ffn=256, longest=32,
                      norm="layer_norm", qkv=qkv)


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = self.path("data.bin")
        corpus.write(self.data)

    def path(self, name):
        return os.path.join(self.folder, name)

    def spec(self, *choices, **rates):
        path = self.path("-".join(map(str, choices)) + ".toml")
        with open(path, "w") as file:
            file.write(spec_text(*choices, **rates))
        return path

    # --- the oracle -------------------------------------------------------------------

    def step(self, spec, weights=None):
        """Loss and gradients of step 1 of one rank, and the weights it began with."""
        bundle, out = self.path("bundle"), self.path("run")
        self.mtc.compile(spec, SINGLE, bundle)
        recipe = ["--data", self.data, "--data-type", "u8", "--steps", 1,
                  *(["--init-from", weights] if weights else [])]
        log = self.mtc.run(bundle, recipe, out, dumps=("init", "grads"))
        found = [safetensors.read(os.path.join(out, f"{what}.safetensors"))
                 for what in ("init", "grads")]
        shutil.rmtree(bundle)
        shutil.rmtree(out)
        return log[0]["loss"], *found

    def compare(self, qkv, heads, kv_heads):
        what = f"{qkv} {heads}/{kv_heads}"
        loss, weights, gradients = self.step(self.spec(qkv, heads, kv_heads, dropout=0.0))
        repeat = Repeat(qkv, heads, kv_heads)
        path = self.path("repeated.safetensors")
        safetensors.write(path, {name: repeat.widen(name, tensor)
                                 for name, tensor in weights.items()})
        wide_loss, _, wide = self.step(self.spec(qkv, heads, heads, dropout=0.0), path)
        error = relative(wide_loss, loss)
        self.report.expect(error <= ORACLE.losses, f"{what}: the loss is {error:.1e} from that "
                           "of repeated heads")
        wanted = {name: repeat.narrow(name, tensor) for name, tensor in wide.items()}
        ratio, name = safetensors.worst_gradient(
            wanted, {name: t.values() for name, t in gradients.items()}, ORACLE.gradients,
            ORACLE.floor)
        print(f"  {what}: loss within {error:.1e}, gradients within "
              f"{ratio * ORACLE.gradients:.1e} ({name})", flush=True)
        self.report.expect(ratio <= 1, f"{what}: the gradient of {name} is "
                           f"{ratio * ORACLE.gradients:.1e} from the sum of those of "
                           "repeated heads")

    # --- layouts ------------------------------------------------------------------------

    def train(self, choices, layouts, dtype):
        spec = self.spec(*choices)
        name = "-".join(map(str, choices))
        model = Model(self.mtc, self.report, name, replace(BOUNDS[dtype], steps=STEPS),
                      self.data, self.folder)
        for number, layout in enumerate((SINGLE, *layouts)):
            bundle = self.path("bundle")
            self.mtc.compile(spec, layout, bundle, precision.options(dtype))
            same = model.train(layout, bundle, [("shm", "threads")[number % 2]])
            shutil.rmtree(bundle)
            print(f"  {name} {layout.name} {'same bits' if same else 'DIFFERS'}", flush=True)
        print(f"  {name}: worst of N5: " + ", ".join(
            f"{key} {value:.1e}" for key, value in model.worst.items()), flush=True)


class Repeat:
    """Tensors of a model with fewer heads of keys and values than of queries, as those of a
    model with as many."""

    def __init__(self, qkv, heads, kv_heads):
        self.fused, self.times = qkv == "fused", heads // kv_heads

    def parts(self, name, shape):
        """[before, key heads, elements of one]; None where nothing repeats."""
        match = re.search(r"attn\.(qkv|k|v)\.(weight|bias)$", name)
        if not match:
            return None
        dim = 1 if match.group(2) == "weight" else 0
        before, behind = 1, 1
        for size in shape[:dim]:
            before *= size
        for size in shape[dim + 1:]:
            behind *= size
        return before, shape[dim], behind

    def widen(self, name, tensor):
        """Shape and values: with a head of keys and values for each of queries."""
        shape, values, n = list(tensor.shape), tensor.values(), self.times
        parts = self.parts(name, shape)
        if parts is None:
            return shape, values
        before, kv, size = parts
        dim = len(shape) - (3 if self.fused else 2)
        wide, head = array.array("f"), size // (n + 2) if self.fused else size
        for start in range(0, before * kv * size, size):
            for query in range(n):
                if self.fused:
                    wide.extend(values[start + query * head:start + (query + 1) * head])
                    wide.extend(values[start + n * head:start + (n + 2) * head])
                else:
                    wide.extend(values[start:start + size])
        shape[dim] *= n
        if self.fused:
            shape[dim + 1] = 3
        return shape, wide

    def narrow(self, name, tensor):
        """Gradients of the wide model, summed."""
        values, n = tensor.values(), self.times
        parts = self.parts(name, tensor.shape)
        if parts is None:
            return values
        before, wide, size = parts
        head, sums = size // 3 if self.fused else size, array.array("f")
        for start in range(0, before * wide * size, n * size):
            heads = [values[start + i * size:start + (i + 1) * size] for i in range(n)]
            if self.fused:
                for each in heads:
                    sums.extend(each[:head])
            sums.extend(map(sum, zip(*(each[head if self.fused else 0:] for each in heads))))
        return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--dtype", choices=BOUNDS, default="f32")
    parser.add_argument("--turns", type=int, nargs="?", const=2)
    options = parser.parse_args()
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        for qkv in ("separate", "fused"):
            for kv_heads in (2, 1):
                tester.compare(qkv, 8, kv_heads)
        for choices, layouts in CASES.items():
            tester.train(choices, [layout for layout in layouts[::options.turns or 1]
                                   if options.part in layout.name], options.dtype)
    return report.finish("layouts of grouped queries")


if __name__ == "__main__":
    sys.exit(main())
