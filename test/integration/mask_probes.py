"""Weights that make a mask visible, and the reading of it from the gradients.

A probe of a layer (from 1) is a dropout kind, weights, and a function from the
gradients of a step to {what: bits}, one byte for each element of each sample. `what`
is (site, layer, "forward" or "backward"): the mask that the forward pass applied, as
the head sees it, and the one that the backward pass made again.
"""

from dataclasses import dataclass
from typing import Callable

from mask_model import (BATCH, HEAD, HEAD_DIM, HEADS, HIDDEN, POSITIONS, SEQ,
                        Weights, one_hot, read_rows, signs)

RATES = {"embedding": 0.25, "attention": 0.3, "hidden": 0.4}
EMBEDDING, PROBABILITIES, AFTER_ATTENTION, AFTER_MLP = range(4)  # sites


@dataclass
class Probe:
    name: str
    kind: str
    weights: Weights
    read: Callable


class Unclear(Exception):
    """A value is near none of those that a mask can give."""


def nearest(value, choices, where):
    best = min(choices, key=lambda choice: abs(value - choice))
    if not abs(value - best) < 0.2:
        raise Unclear(f"{where}: expected one of {choices}, found {value:.3f}")
    return best


def nonzero(row):
    """Bits of a row of gradients; what is dropped has rounding only (1e-6)."""
    least = 0.02 * max(map(abs, row))
    return bytes(abs(value) > least for value in row)


def rows_of(gradients, name):
    values = gradients[name].values()
    return [values[i * HIDDEN:(i + 1) * HIDDEN] for i in range(POSITIONS)]


def embedding_probe():
    """All embeddings are 1: x = mask / (1 - rate) goes through all blocks. The
    gradient of a token is that of its only position, zero where it was dropped."""
    weights = Weights()
    weights.fill("embed.tokens", 1.0)
    weights.set_head(signs)

    def read(gradients):
        forward = b"".join(bytes(value > 0 for value in row)
                           for row in read_rows(gradients))
        backward = b"".join(bytes(value != 0 for value in row)
                            for row in rows_of(gradients, "embed.tokens"))
        return {(EMBEDDING, 0, "forward"): forward,
                (EMBEDDING, 0, "backward"): backward}

    return Probe("embedding", "embedding", weights, read)


def hidden_probe(layer):
    """Forward: the biases of the two projections are 1 and 3 units, so an element
    of x is 0, 1, 3 or 4 (and the token 3 more). Backward: the projections' inputs
    are one-hot in the position, so that row i of the gradient of their weights is
    the masked gradient of position i alone."""
    kept = 1 - RATES["hidden"]
    unit = 1 / 3
    weights, here = Weights(), f"layers.{layer - 1}."
    low, step = one_hot(weights, 3 * unit)
    weights.set_head(signs)
    weights.fill(here + "attn.out.bias", 1 * unit * kept)
    weights.fill(here + "mlp.down.bias", 3 * unit * kept)
    for i in range(POSITIONS):
        # Scores are (3 step)^2 / sqrt(HEAD_DIM) = 205 at t = s and equal elsewhere:
        # every position attends to itself.
        for head in range(HEADS):
            for part in (0, 1):
                weights.set(here + "attn.qkv.weight", (i, head, part, i % SEQ), 3.0)
        head, dim = divmod(i, HEAD_DIM)
        weights.set(here + "attn.qkv.weight", (i, head, 2, dim), 1.0)
        weights.set(here + "attn.qkv.bias", (head, 2, dim), -low)
        # The second norm gives at least 4 at the token and at most 1 elsewhere; GELU
        # at 10 x - 25 is 15 and more, and zero.
        weights.set(here + "mlp.up.weight", (i, i), 10.0)
        weights.set(here + "mlp.up.bias", (i,), -25.0)

    def read(gradients):
        masks = {site: bytearray() for site in (AFTER_ATTENTION, AFTER_MLP)}
        for i, row in enumerate(read_rows(gradients)):
            # Among 127 elements some have 0 and some have 4 units.
            others = row[:i] + row[i + 1:]
            least, most = min(others), max(others)
            for d, value in enumerate(row):
                units = 4 * (value - least) / (most - least) - 3 * (d == i)
                units = nearest(units, (0, 1, 3, 4), f"position {i}, element {d}")
                masks[AFTER_ATTENTION].append(units in (1, 4))
                masks[AFTER_MLP].append(units in (3, 4))
        found = {(site, layer, "forward"): bytes(bits)
                 for site, bits in masks.items()}
        for site, name in ((AFTER_ATTENTION, "attn.out.weight"),
                           (AFTER_MLP, "mlp.down.weight")):
            found[site, layer, "backward"] = b"".join(
                map(nonzero, rows_of(gradients, here + name)))
        return found

    return Probe(f"hidden of layer {layer}", "hidden", weights, read)


# Dimensions that the attention probe reads: the heads' masks (head · SEQ + s), what
# flows back, a known height, and nothing at all.
CODE, HEIGHT, NOTHING = range(64, 80), range(100, 104), range(104, 108)


def walsh(row, column):
    return -1 if bin(row & column).count("1") % 2 else 1


def attention_probe(layer):
    """Forward: queries and keys are zero, so probabilities are 1 / (t + 1); the
    value of position s is one-hot in s, so the output is the masked row of the
    probabilities. Backward: the gradients at the positions of a sample are
    orthogonal rows of signs in CODE, which the projection hands to the heads; the
    gradient of the value of s, times row t, is the masked probability (t, s)."""
    kept = 1 - RATES["attention"]
    weights, here = Weights(), f"layers.{layer - 1}."
    low, step = one_hot(weights, 0.05)  # small beside what attention adds

    def code(position):
        column = signs(position)
        column[CODE.start:CODE.stop] = [walsh(position % SEQ + 1, j)
                                        for j in range(len(CODE))]
        return column

    weights.set_head(code)
    for head in range(HEADS):
        for i in range(POSITIONS):
            weights.set(here + "attn.qkv.weight", (i, head, 2, i % SEQ), 1.0)
        for s in range(SEQ):
            weights.set(here + "attn.qkv.bias", (head, 2, s), -low * BATCH)
            weights.set(here + "attn.out.weight", (head, s, head * SEQ + s), 1.0)
        for j, d in enumerate(CODE):  # of values that are zero
            weights.set(here + "attn.out.weight", (head, SEQ + j, d), 1.0)
    height = 2.0
    for d in HEIGHT:
        weights.set(here + "attn.out.bias", (d,), height)

    def scale_of(row):
        """The value of a zero in a normalised row, and the row's deviation."""
        zero = sum(row[d] for d in NOTHING) / len(NOTHING)
        high = sum(row[d] for d in HEIGHT) / len(HEIGHT)
        return zero, height / (high - zero)

    def read_forward(rows):
        for sample in range(BATCH):
            for head in range(HEADS):
                for t in range(SEQ):
                    row = rows[sample * SEQ + t]
                    zero, deviation = scale_of(row)
                    for s in range(SEQ):
                        x = (row[head * SEQ + s] - zero) * deviation
                        yield nearest(x * kept * (t + 1) / step, (0, 1),
                                      f"sample {sample}, head {head}, ({t}, {s})")

    def read_backward(rows, gradients):
        weight = gradients[here + "attn.qkv.weight"].values()
        bias = gradients[here + "attn.qkv.bias"].values()

        def value_gradient(i, head, dim):
            at = (head * 3 + 2) * HEAD_DIM + dim
            return (weight[i * HEADS * 3 * HEAD_DIM + at] - low * bias[at]) / step

        for sample in range(BATCH):
            for head in range(HEADS):
                flows = [[value_gradient(sample * SEQ + s, head, SEQ + j)
                          for j in range(len(CODE))] for s in range(SEQ)]
                for t in range(SEQ):
                    deviation = scale_of(rows[sample * SEQ + t])[1]
                    # Of minus the gradient: see set_head.
                    unit = -HEAD * len(CODE) / (deviation * POSITIONS * kept * (t + 1))
                    for s in range(SEQ):
                        found = sum(flow * walsh(t + 1, j)
                                    for j, flow in enumerate(flows[s]))
                        yield nearest(found / unit, (0, 1),
                                      f"sample {sample}, head {head}, ({t}, {s})")

    def read(gradients):
        rows = read_rows(gradients)
        return {(PROBABILITIES, layer, "forward"): bytes(read_forward(rows)),
                (PROBABILITIES, layer, "backward"):
                    bytes(read_backward(rows, gradients))}

    return Probe(f"attention of layer {layer}", "attention", weights, read)
