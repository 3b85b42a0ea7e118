#!/usr/bin/env python3
"""docs/reference/weights.md is right: weights of Hugging Face's GPT-2, turned into ours by the
page's own expressions, give the loss of GPT-2's formulas, and what is saved is what was read.

usage: test_weights.py BIN_DIR SOURCE_DIR
"""

import array
import json
import os
import sys
import tempfile
from itertools import product

import gpt2
import safetensors
from run_layout import Mtc, Report

sys.path.insert(1, os.path.join(sys.argv[2], "tools"))

import weights  # noqa: E402

PADDED = 64
# Sums of some tens of fp32 products, through two layers, against double precision.
BOUND = 1e-5

SPEC = f"""name = "hf"
vocab = {gpt2.Config.vocab}
padded_vocab = {PADDED}
layers = {gpt2.Config.layers}
hidden = {gpt2.Config.hidden}
heads = {gpt2.Config.heads}
ffn = {gpt2.Config.ffn}
max_seq = {gpt2.Config.positions}
"""


class Array:
    """As much of NumPy's arrays as the expressions of the page use: elements by index."""

    def __init__(self, shape, at):
        self.shape, self.at = list(shape), at  # at: a tuple of indices to a value

    @classmethod
    def of(cls, shape, values):
        return cls(shape, lambda index: values[flat(shape, index)])

    def values(self):
        return [self.at(index) for index in product(*map(range, self.shape))]

    def reshape(self, *shape):
        return Array.of(shape, self.values())

    def transpose(self, *order):
        def at(index):
            return self.at(tuple(index[order.index(d)] for d in range(len(order))))
        return Array([self.shape[d] for d in order], at)

    def __getitem__(self, key):
        """Integers and whole slices."""
        key = key if isinstance(key, tuple) else (key,)
        key += (slice(None),) * (len(self.shape) - len(key))

        def at(index):
            rest = iter(index)
            return self.at(tuple(k if isinstance(k, int) else next(rest) for k in key))
        return Array([size for size, k in zip(self.shape, key) if not isinstance(k, int)], at)


def flat(shape, index):
    place = 0
    for size, i in zip(shape, index):
        place = place * size + i
    return place


class NumPy:
    @staticmethod
    def pad(a, widths):
        def at(index):
            return a.at(index) if all(i < size for i, size in zip(index, a.shape)) else 0.0
        return Array([size + after for size, (_, after) in zip(a.shape, widths)], at)


def converted(state):
    """Every tensor of the page that a spec may have."""
    c = gpt2.Config
    names = {"E": c.hidden, "H": c.heads, "D": c.head_dim, "V": c.vocab, "P": PADDED, "np": NumPy}
    made = {}
    for ours, theirs, expression in weights.HUGGING_FACE:
        for n in range(c.layers if "{n}" in ours else 1):
            w = Array.of(*state[theirs.format(n=n)])
            result = eval(expression, dict(names, w=w))  # from the sources
            made[ours.format(n=n)] = (result.shape, array.array("f", result.values()))
    return made


def check(mtc, report, folder, name, keys, tied):
    c, state = gpt2.Config, gpt2.random_state(gpt2.Config, 7, tied)
    ids = [(5 * i + 3) % c.vocab for i in range(c.positions + 1)]
    spec, data, bundle, file, saved = (os.path.join(folder, name + end) for end in (
        ".toml", ".bin", ".mtc", ".safetensors", ".saved"))
    with open(spec, "w") as out:
        out.write(SPEC + keys)
    with open(data, "wb") as out:
        out.write(bytes(ids))
    mtc.call("compile", spec, "--gbs", 1, "--compile-to", "import", "-o", spec + ".mlir")
    with open(spec + ".mlir") as ir:
        wanted = weights.parameters(ir.read())
    made = converted(state)
    for parameter, shape, _ in wanted:
        report.expect(parameter in made and made[parameter][0] == shape,
                      f"{name}: expected the page to make {parameter} {shape}")
    safetensors.write(file, {parameter: made[parameter] for parameter, _, _ in wanted})
    mtc.call("compile", spec, "--gbs", 1, "-o", bundle)
    tokens = ["--data", data, "--data-type", "u8", "--init-from", file]
    found = json.loads(mtc.call("run", bundle, "--eval", 1, *tokens).stdout)["eval_loss"]
    loss = gpt2.loss(c, state, ids[:-1], ids[1:])
    print(f"{name}: loss {found:.6f}, of GPT-2's formulas {loss:.6f}")
    report.expect(abs(found - loss) <= BOUND * loss,
                  f"{name}: expected a loss of {loss}, found {found}")
    # A step of rate 0 changes nothing: the file that is saved is the one that was read.
    mtc.call("run", bundle, *tokens, "--steps", 1, "--lr", 0, "--decay", "constant", "--quiet",
             "--save", saved)
    before, after = safetensors.read(file), safetensors.read(saved)
    report.expect(safetensors.digest(before) == safetensors.digest(after),
                  f"{name}: expected the tensors that were read to be saved")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        check(mtc, report, folder, "fused", "", tied=True)
        check(mtc, report, folder, "separate", "tied = false\n[attention]\nqkv = \"separate\"\n",
              tied=False)
    return report.finish("weights")


if __name__ == "__main__":
    sys.exit(main())
