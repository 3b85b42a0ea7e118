"""A small GPT-2 whose gradients spell out its dropout masks.

The data are the tokens 0 .. 128, so each of the POSITIONS (sample, t) of a batch
has a token and a label of its own. Weights are zero but where a function below
says so; a block of zeros adds nothing to its input.

The head has small columns +c(label) and, at unused words, -c(label): all words are
about equally likely, and the gradient of the head's column of a label is that of a
word without label minus the normalised row at the label's position (read_rows).
What flows back to that row is about -c(label).
"""

import array
import os
import random

import safetensors
from small_spec import small_spec

HIDDEN, HEADS, LAYERS, SEQ, BATCH = 128, 4, 4, 8, 16
HEAD_DIM = HIDDEN // HEADS
POSITIONS = BATCH * SEQ
VOCAB, PADDED = 300, 320
UNUSED = 290  # a word that is no label and whose column of the head is zero
EPS = 1e-5
# Small, so that probabilities differ by 1% only and what read_rows takes for equal
# is.
HEAD = 1e-3

def write_spec(path, kind, rate):
    rates = {"embedding": 0.0, "attention": 0.0, "hidden": 0.0, kind: rate}
    with open(path, "w") as file:
        file.write(small_spec(False, rates, name="masks", vocab=VOCAB, padded=PADDED,
                              layers=LAYERS, hidden=HIDDEN, heads=HEADS, ffn=POSITIONS,
                              longest=SEQ, norm="layer_norm", qkv="fused"))


def write_data(path):
    with open(path, "wb") as file:
        file.write(bytes(range(POSITIONS + 1)))


class Weights:
    """All parameters by name; zero, and norms of scale one."""

    def __init__(self):
        self.shapes = {
            "embed.tokens": [PADDED, HIDDEN], "embed.positions": [SEQ, HIDDEN],
            "final_norm.scale": [HIDDEN], "final_norm.bias": [HIDDEN],
            "head.weight": [HIDDEN, PADDED]}
        for layer in range(LAYERS):
            for name, shape in (
                    ("norm1.scale", [HIDDEN]), ("norm1.bias", [HIDDEN]),
                    ("norm2.scale", [HIDDEN]), ("norm2.bias", [HIDDEN]),
                    ("attn.qkv.weight", [HIDDEN, HEADS, 3, HEAD_DIM]),
                    ("attn.qkv.bias", [HEADS, 3, HEAD_DIM]),
                    ("attn.out.weight", [HEADS, HEAD_DIM, HIDDEN]),
                    ("attn.out.bias", [HIDDEN]),
                    ("mlp.up.weight", [HIDDEN, POSITIONS]),
                    ("mlp.up.bias", [POSITIONS]),
                    ("mlp.down.weight", [POSITIONS, HIDDEN]),
                    ("mlp.down.bias", [HIDDEN])):
                self.shapes[f"layers.{layer}.{name}"] = shape
        self.values = {}
        for name, shape in self.shapes.items():
            count = 1
            for extent in shape:
                count *= extent
            value = 1.0 if name.endswith(".scale") else 0.0
            self.values[name] = array.array("f", [value]) * count

    def set(self, name, index, value):
        flat = 0
        for extent, i in zip(self.shapes[name], index):
            flat = flat * extent + i
        self.values[name][flat] = value

    def fill(self, name, value):
        self.values[name] = array.array("f", [value]) * len(self.values[name])

    def set_head(self, code):
        """`code` gives the column of a position, a list of HIDDEN signs."""
        for position in range(POSITIONS):
            label = position + 1
            for d, sign in enumerate(code(position)):
                self.set("head.weight", (d, label), HEAD * sign)
                self.set("head.weight", (d, label + POSITIONS), -HEAD * sign)

    def write(self, folder):
        path = os.path.join(folder, "weights.safetensors")
        safetensors.write(path, {name: (self.shapes[name], values)
                                 for name, values in self.values.items()})
        return path


def signs(position):
    """Arbitrary: what flows back is nowhere near zero."""
    generator = random.Random(position)
    return [generator.choice((-1, 1)) for _ in range(HIDDEN)]


def one_hot(weights, height):
    """The token of position i is `height` in dimension i. Returns what a norm makes
    of it: the value of the other dimensions, and the step up to dimension i."""
    for i in range(POSITIONS):
        weights.set("embed.tokens", (i, i), height)
    mean = height / HIDDEN
    deviation = (mean * (height - mean) + EPS) ** 0.5
    return -mean / deviation, height / deviation


def read_rows(gradients):
    """The normalised row of every position, as it enters the head."""
    head = gradients["head.weight"].values()
    rows = []
    for position in range(POSITIONS):
        rows.append([POSITIONS * (head[d * PADDED + UNUSED]
                                  - head[d * PADDED + position + 1])
                     for d in range(HIDDEN)])
    return rows
