#!/usr/bin/env python3
"""Sequences that are shorter than the longest one that a model knows.

  goldens  what PyTorch computed with 32 rows of positions is what a model of 48 computes
           at --seq 32, at one rank and at eight: losses, norms and gradients; the
           gradient of the other rows is zero, and the update treats them as such
  bits     trained with as many rows or with more, the same bits: of losses, norms and of
           every parameter's rows that are read, with dropout, in fp32 and bf16, ZeRO 1
  weights  saved at one --seq load at another and back, whatever the layout

usage: test_positions.py BIN_DIR SOURCE_DIR
"""

import array
import json
import os
import sys
import tempfile

import precision
import safetensors
from layouts import Layout, TP2_PP2_DP2
from run_layout import Mtc, Report
from test_goldens import check_gradients, check_log

SEQ, LONGEST, HIDDEN = 32, 48, 64
NAME = "embed.positions"
ONE, EIGHT = Layout(), TP2_PP2_DP2
# A row without gradient is only multiplied: by 1 - rate * decay, each step rounded.
DECAYED = 1e-6


def rows(tensors, first, last):
    """The values of these rows of the positions."""
    return tensors[NAME].values()[first * HIDDEN:last * HIDDEN]


class Positions:
    def __init__(self, mtc, report, root, folder):
        self.mtc, self.report, self.root, self.folder = mtc, report, root, folder

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def compile(self, spec, longest, layout, seq=SEQ, options=()):
        """The bundle of a spec of models/specs whose longest sequence is `longest`."""
        name = "-".join([spec, str(longest), str(seq), layout.name, *map(str, options)])
        with open(os.path.join(self.root, "models", "specs", spec + ".toml")) as file:
            text = file.read()
        changed = text.replace("max_seq = 32", f"max_seq = {longest}")
        self.report.expect("max_seq = 32" in text, f"{spec} has no max_seq = 32")
        with open(self.path(name + ".toml"), "w") as file:
            file.write(changed)
        return self.mtc.compile(self.path(name + ".toml"), layout, self.path(name),
                                ["--seq", seq, *options])

    def read(self, run, name):
        return safetensors.read(self.path(run, name + ".safetensors"))

    #===--- goldens ---------------------------------------------------------===#

    def goldens(self, layout):
        golden = os.path.join(self.root, "test", "golden", "gpt2", "tied-1")
        with open(os.path.join(golden, "expected.json")) as file:
            facts = json.load(file)
        start = {name: (tensor.shape, tensor.values()) for name, tensor
                 in safetensors.read(os.path.join(golden, "weights.safetensors")).items()}
        rest = array.array("f", [0.5 - i % 7 / 8 for i in range((LONGEST - SEQ) * HIDDEN)])
        start[NAME] = ([LONGEST, HIDDEN], start[NAME][1] + rest)
        safetensors.write(self.path("start"), start)
        recipe = ["--data", os.path.join(golden, "data.bin"), "--data-type", "u8",
                  "--order", "sequential", "--steps", facts["steps"],
                  "--lr", facts["max_lr"], "--min-lr", facts["min_lr"],
                  "--warmup", facts["warmup"], "--init-from", self.path("start")]
        what = f"golden at {layout.name}"
        print(what, flush=True)
        bundle = self.compile("gpt2-nano-nodrop", LONGEST, layout)
        log = self.mtc.run(bundle, recipe, self.path(what), dumps=("grads", "params"))
        check_log(self.report, what, log, facts)
        self.gradients(what, golden)
        self.unread(what, rest, self.read(what, "params"), log, decay=0.1)
        self.mtc.run(bundle, recipe, self.path("plain"), dumps=("params",),
                     extra=("--weight-decay", 0))
        self.report.expect(rows(self.read("plain", "params"), SEQ, LONGEST) == rest,
                           f"{what}: without decay, rows that nobody reads changed")

    def gradients(self, what, golden):
        found = self.read(what, "grads")
        zero = rows(found, SEQ, LONGEST)
        self.report.expect(len(zero) == (LONGEST - SEQ) * HIDDEN and not any(zero),
                           f"{what}: expected gradients of zero behind row {SEQ}, found "
                           f"{len(zero)} with {sum(map(bool, zero))} others")
        read = rows(found, 0, SEQ)
        found[NAME] = safetensors.Tensor("F32", [SEQ, HIDDEN], read.tobytes())
        check_gradients(self.report, what, found, safetensors.read(
            os.path.join(golden, "expected.safetensors")))

    def unread(self, what, before, params, log, decay):
        factor = 1.0
        for step in log:
            factor *= 1 - step["lr"] * decay
        worst = max(abs(factor * old - new) for old, new
                    in zip(before, rows(params, SEQ, LONGEST)))
        self.report.expect(worst <= DECAYED, f"{what}: rows that nobody reads are up to "
                           f"{worst:.1e} from {factor} times what they were")

    #===--- bits ------------------------------------------------------------===#

    def bits(self, layout, dtype):
        recipe = ["--data", self.path("data"), "--data-type", "u8", "--steps", 6,
                  "--warmup", 2]
        logs, params = {}, {}
        for longest in (SEQ, LONGEST):
            bundle = self.compile("gpt2-nano", longest, layout,
                                  options=precision.options(dtype))
            logs[longest] = self.mtc.run(bundle, recipe, self.path("bits"),
                                         dumps=("init", "params"))
            params[longest] = self.read("bits", "init"), self.read("bits", "params")
        what = f"{dtype} at {layout.name}"
        for short, long in zip(logs[SEQ], logs[LONGEST]):
            for key in ("loss", "grad_norm"):
                self.report.expect(short[key] == long[key], f"{what}: {key} of step "
                                   f"{short['step']} is {short[key]!r} with {SEQ} rows, "
                                   f"{long[key]!r} with {LONGEST}")
        for when, short, long in zip(("initial", "final"), *params.values()):
            size = len(short[NAME].data)
            self.report.expect(long[NAME].shape == [LONGEST, HIDDEN], f"{what}: expected "
                               f"{LONGEST} rows, found the shape {long[NAME].shape}")
            long[NAME] = safetensors.Tensor(long[NAME].dtype, short[NAME].shape,
                                            long[NAME].data[:size])
            self.report.expect(safetensors.digest(short) == safetensors.digest(long),
                               f"{what}: {when} parameters differ")

    #===--- weights ---------------------------------------------------------===#

    def weights(self, first, second):
        """Trains at --seq 8 in one layout, at 16 in the other, and at 8 again."""
        recipe = ["--data", self.path("data"), "--data-type", "u8", "--steps", 2]
        saved = None
        for turn, (seq, layout) in enumerate([(8, first), (16, second), (8, first)]):
            bundle = self.compile("gpt2-nano-nodrop", 32, layout, seq)
            at = self.path(f"turn{turn}.safetensors")
            extra = ["--save", at] + (["--init-from", saved] if saved else [])
            self.mtc.run(bundle, recipe, self.path("turn"), dumps=("init", "params"),
                         extra=extra)
            start = safetensors.digest(self.read("turn", "init"))
            self.report.expect(not saved or start == safetensors.digest(
                safetensors.read(saved)), f"turn {turn} at --seq {seq}, {layout.name}: "
                "what was saved is not what the run starts with")
            self.report.expect(safetensors.read(at)[NAME].shape == [32, HIDDEN],
                               f"turn {turn}: expected all rows of positions in the file")
            saved = at


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        test = Positions(mtc, report, sys.argv[2], folder)
        with open(test.path("data"), "wb") as file:
            file.write(bytes((7 * i + i // 5) % 250 for i in range(8000)))
        for layout in (ONE, EIGHT):
            test.goldens(layout)
        for layout, dtype in ((ONE, "f32"), (EIGHT, "f32"), (EIGHT, "bf16")):
            test.bits(layout, dtype)
        test.weights(ONE, EIGHT)
        test.weights(EIGHT, ONE)
    return report.finish("sequences below the longest one")


if __name__ == "__main__":
    sys.exit(main())
