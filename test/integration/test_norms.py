"""The global norm and what is not finite, in programs of eight ranks (tp 2, pp 2, dp 2),
with ZeRO off and on, over both communicators.

  norms    of weights whose gradients are as large or as small as they get: the log's
           grad_norm is, to the bit, the root of the exact sum of squares of the
           gradients that the run dumps, which whole numbers tell here
  failures a gradient, a loss or a weight that is not finite ends the run with its name
           in the message and in the log, on whichever rank it was, before any
           rank has updated its parameters

usage: test_norms.py BIN_DIR
"""

import array
import math
import os
import random
import re
import sys
import tempfile

import safetensors
from layouts import Layout
from run_layout import Failed, Mtc, Report, read_log

SPEC, SEQ, BATCH = "gpt2-nano-untied-nodrop", 32, 16
LAYOUTS = [Layout(tp=2, pp=2, dp=2, zero=zero) for zero in (0, 1)]
COMMS = ("shm", "threads")
NON_FINITE = 15
LARGE, SMALL = 1e34, 1e-34


def exact_norm(tensors):
    """sqrt of the sum of squares, rounded to double once before."""
    by_exponent = {}
    for tensor in tensors.values():
        words = array.array("I")
        words.frombytes(tensor.data)
        for word in words:
            exponent, m = word >> 23 & 255, word & 0x7FFFFF
            if exponent == 255:
                return math.inf
            m |= 0x800000 if exponent else 0
            at = max(exponent, 1)
            by_exponent[at] = by_exponent.get(at, 0) + m * m
    # The least is 2^-149, of exponents 0 and 1.
    units = sum(squares << 2 * (at - 1) for at, squares in by_exponent.items())
    return math.sqrt(units / 2 ** 298)


class Weights:
    """Initial weights, changed."""

    def __init__(self, path):
        self.tensors = {name: (tensor.shape, tensor.values())
                        for name, tensor in safetensors.read(path).items()}

    def copy(self):
        other = object.__new__(Weights)
        other.tensors = {name: (shape, values[:])
                         for name, (shape, values) in self.tensors.items()}
        return other

    def scale(self, name, factor):
        values = self.tensors[name][1]
        for i, value in enumerate(values):
            values[i] = value * factor
        return self

    def fill(self, name, value):
        """`value` of an index."""
        values = self.tensors[name][1]
        for i in range(len(values)):
            values[i] = value(i)
        return self

    def write(self, path):
        safetensors.write(path, self.tensors)
        return path


def overflowing(weights, norm, weight):
    """The gradient of `weight` is beyond fp32, and nothing else is: what it is
    multiplied with is as large as it is small."""
    return weights.scale(norm, LARGE).scale(weight, SMALL)


def two_levels(weights):
    """Logits are 2e38 for token 0 and -2e38 for the others, whatever the input: the
    loss of a label 0 is 0, that of any other is not a finite number, and gradients are
    those of a softmax."""
    (_, vocab), _ = weights.tensors["head.weight"]  # [hidden, vocab]
    return (weights.fill("final_norm.scale", lambda i: 0.0)
            .fill("final_norm.bias", lambda i: 1e19 if i == 0 else 0.0)
            .fill("head.weight",
                  lambda i: 0.0 if i >= vocab else 2e19 if i == 0 else -2e19))


def sizes(initial):
    """Name, weights, and between what the norm lies."""
    yield "large", initial.copy().scale("head.weight", 1e7), 1e6, 1e9
    yield "small", (initial.copy().scale("head.weight", 1e-14)
                    .scale("final_norm.scale", 1e-14)), 1e-16, 1e-13
    yield "beyond squares of fp32", initial.copy().scale("final_norm.scale", 1e25), \
        1e22, 1e28


def failures(initial):
    """Name, weights, data, what the log says, and words of the message."""
    later = overflowing(initial.copy().scale("head.weight", 1e12),
                        "layers.3.norm2.scale", "layers.3.mlp.up.weight")
    yield "a gradient of the last stage", later, "tokens", \
        {"not_finite": "gradient of layers.3.mlp.up.weight"}, \
        ["the gradient of layers.3.mlp.up.weight is not finite",
         "still those of step 0"]
    both = overflowing(later.copy(), "layers.0.norm1.scale", "layers.0.attn.qkv.weight")
    yield "gradients of both stages", both, "tokens", \
        {"not_finite": "gradient of layers.0.attn.qkv.weight"}, \
        ["the gradient of layers.0.attn.qkv.weight is not finite"]
    yield "the loss of one replica", two_levels(initial.copy()), "zeros", \
        {"not_finite": "loss", "loss": None}, \
        ["the loss is not finite (loss inf)", "still those of step 0"]
    broken = initial.copy()
    broken.tensors["layers.2.mlp.down.weight"][1][4321] = math.nan
    yield "a weight", broken, "tokens", \
        {"not_finite": "loss", "bad_parameter": "layers.2.mlp.down.weight"}, \
        ["'layers.2.mlp.down.weight' is not finite", "before the first step"]


def write_data(folder):
    generator = random.Random(7)
    tokens = {"tokens": [generator.randrange(250) for _ in range(SEQ * BATCH + 1)],
              "zeros": [0] * (SEQ * BATCH + 1)}
    tokens["zeros"][2 * SEQ + 5] = 1  # in sample 2, of the second replica
    for name, values in tokens.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(bytes(values))


class Test:
    def __init__(self, folder):
        self.mtc, self.report, self.folder = Mtc(), Report(), folder
        write_data(folder)
        self.bundles = [self.mtc.compile(SPEC, layout, self.path(layout.name))
                        for layout in LAYOUTS]
        self.recipe("tokens", "--dump", "init", folder)
        self.initial = Weights(self.path("init.safetensors"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def recipe(self, data, *extra, bundle=None, comm="threads", check=True):
        return self.mtc.call("run", bundle or self.bundles[0], "--quiet", "--comm", comm,
                             "--steps", 1, "--data", self.path(data), "--data-type",
                             "u8", "--order", "sequential", "--log",
                             self.path("log.jsonl"), *extra, check=check)

    def norms(self):
        for name, weights, least, most in sizes(self.initial):
            start = weights.write(self.path("start.safetensors"))
            norms = set()
            for bundle, comm in zip(self.bundles, COMMS):
                self.recipe("tokens", "--init-from", start, "--dump", "grads",
                            self.folder, bundle=bundle, comm=comm)
                (step,) = read_log(self.path("log.jsonl"))
                gradients = safetensors.read(self.path("grads.safetensors"))
                expected = exact_norm(gradients)
                norms.add(step["grad_norm"])
                self.report.expect(
                    step["grad_norm"] == expected,
                    f"{name}, {os.path.basename(bundle)}: expected the norm "
                    f"{expected!r}, found {step['grad_norm']!r}")
                self.report.expect(least < expected < most,
                                   f"{name}: the norm is {expected}")
            self.report.expect(len(norms) == 1, f"{name}: norms differ: {norms}")

    def squares(self):
        """Gradients without clipping whose squares no mean of AdamW could take."""
        start = (self.initial.copy().scale("final_norm.scale", 1e25)
                 .write(self.path("start.safetensors")))
        for bundle in self.bundles:
            result = self.recipe("tokens", "--init-from", start, "--clip", 0,
                                 bundle=bundle, check=False)
            (step,) = read_log(self.path("log.jsonl"))
            self.report.expect(
                result.returncode == NON_FINITE and "still those of step 0" in result.stderr
                and step["not_finite"] == "square of the gradients in fp32"
                and step["grad_norm"] > 1e22, f"squares: {result.stderr!r}, {step}")
            # Only the last stage computes it; each rank's line has it.
            losses = set(re.findall(r"\(loss ([^)]*)\)", result.stderr))
            self.report.expect(losses and all(float(loss) == step["loss"] for loss in losses),
                               f"squares: expected the loss {step['loss']} of every rank, "
                               f"found {sorted(losses)}")

    def failures(self):
        for name, weights, data, logged, words in failures(self.initial):
            start = weights.write(self.path("start.safetensors"))
            for bundle, comm in zip(self.bundles, reversed(COMMS)):
                saved = self.path("saved.safetensors")
                result = self.recipe(data, "--init-from", start, "--save", saved,
                                     bundle=bundle, comm=comm, check=False)
                where = f"{name}, {os.path.basename(bundle)}"
                self.report.expect(result.returncode == NON_FINITE,
                                   f"{where}: exit code {result.returncode}")
                for word in ["step 1: ", *words]:
                    self.report.expect(word in result.stderr,
                                       f"{where}: no '{word}' in {result.stderr!r}")
                # No rank of any stage has gone on to the update.
                self.report.expect(
                    safetensors.digest(safetensors.read(saved))
                    == safetensors.digest(safetensors.read(start)),
                    f"{where}: the parameters are not those of the step before")
                (step,) = read_log(self.path("log.jsonl"))
                for key, value in {"grad_norm": None, **logged}.items():
                    self.report.expect(key in step and step[key] == value,
                                       f"{where}: {key} of {step}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        test = Test(folder)
        test.norms()
        test.squares()
        test.failures()
        return test.report.finish("norms and failures of eight ranks")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(str(failed))
