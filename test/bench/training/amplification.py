"""How much training amplifies rounding: the same program, weights one unit in the last
place apart.

    amplification.py BUILD DATA [--steps 50] [--runs 10] [--elements 4] [options of
        mtc run, after those of the demo: --order sequential]

Trains gpt2-tiny with one process from its own initial weights, then from the same
weights with a few elements moved to the next float up or down, and lastly with eight
processes. Prints the largest relative difference of loss and gradient norm of each run
from the first. What eight processes show is rounding alone if single last bits of the
weights show as much. Standard library only; DATA is a file of bytes.
"""

import argparse
import json
import os
import random
import statistics
import struct
import subprocess
import tempfile

BATCH = ["--gbs", "32", "--mbs", "4"]
EIGHT = ["--tp", "2", "--pp", "2", "--dp", "2", "--zero", "1"]
RECIPE = ["--lr", "3e-3", "--decay", "constant", "--warmup", "50"]


def recipe(given):
    """The demo's options and those given, which replace them."""
    pairs = [RECIPE[i:i + 2] for i in range(0, len(RECIPE), 2)]
    return [word for pair in pairs if pair[0] not in given for word in pair] + given


class Trainer:
    def __init__(self, options, folder):
        self.options = options
        self.mtc = os.path.join(options.build, "bin", "mtc")
        self.folder = folder

    def file(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, layout):
        subprocess.run([self.mtc, "compile", "gpt2-tiny", *layout, *BATCH, "-o",
                        self.file(name)], check=True, stdout=subprocess.DEVNULL)

    def run(self, bundle, *extra):
        o, log = self.options, self.file("log.jsonl")
        subprocess.run([self.mtc, "run", self.file(bundle), "--data", o.data,
                        "--data-type", "u8", *recipe(o.recipe), "--steps",
                        str(o.steps), "--log", log, "--quiet", *extra], check=True)
        with open(log) as file:
            return [json.loads(line) for line in list(file)[1:]]  # behind the header


class Weights:
    """A safetensors file of fp32, as bytes with the offset of each element."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        (size,) = struct.unpack_from("<Q", self.bytes)
        self.data = 8 + size
        self.count = (len(self.bytes) - self.data) // 4

    def disturbed(self, draw, elements):
        """A copy with some of its elements one unit up or down; zeros stay."""
        copy = bytearray(self.bytes)
        for index in draw.sample(range(self.count), elements or self.count):
            at = self.data + 4 * index
            (word,) = struct.unpack_from("<I", copy, at)
            # The next word is the next float of the same sign.
            if word & 0x7FFFFFFF:
                struct.pack_into("<I", copy, at, word + draw.choice((-1, 1)))
        return copy


def apart(run, first):
    return {key: max(abs(a[key] - b[key]) / abs(b[key]) for a, b in zip(run, first))
            for key in ("loss", "grad_norm")}


def show(name, difference):
    print(f"{name:<24} {difference['loss']:>9.1e} {difference['grad_norm']:>9.1e}",
          flush=True)


def summary(name, differences, choose):
    show(name, {key: choose([d[key] for d in differences])
                for key in ("loss", "grad_norm")})


def measure(options, folder):
    trainer = Trainer(options, folder)
    trainer.compile("one", [])
    trainer.compile("eight", EIGHT)
    first = trainer.run("one", "--dump", "init", folder)
    weights = Weights(trainer.file("init.safetensors"))
    print(f"{'run':<24} {'loss':>9} {'norm':>9}")
    show("as dumped", apart(trainer.run("one", "--init-from",
                                        trainer.file("init.safetensors")), first))
    disturbed = []
    for number in range(options.runs):
        path = trainer.file("disturbed.safetensors")
        with open(path, "wb") as file:
            file.write(weights.disturbed(random.Random(number), options.elements))
        disturbed.append(apart(trainer.run("one", "--init-from", path), first))
        show(f"last bits, draw {number}", disturbed[-1])
    summary("last bits, median", disturbed, statistics.median)
    summary("last bits, largest", disturbed, max)
    show("eight processes", apart(trainer.run("eight"), first))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", help="the build folder")
    parser.add_argument("data")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--elements", type=int, default=4, help="to move; 0: all")
    options, options.recipe = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(options, folder)


if __name__ == "__main__":
    main()
