#!/usr/bin/env python3
"""Samples of several lengths from one bundle.

  alone    a bundle for 32 and 16 tokens, trained with one of them, has the bits of a bundle
           for that length alone: losses, norms, gradients, parameters, and evaluations
  memory   its arenas are as large as the larger of the two, and those that last the same
  switch   behind steps of 16 tokens a step of 32 has the gradients that a bundle for 32
           alone has at the same parameters and samples, and its update is AdamW's, with
           moments of all gradients so far; pipelines and ZeRO change no bit of such a run

usage: test_lengths.py BIN_DIR
"""

import array
import json
import math
import os
import sys
import tempfile

import corpus
import precision
import safetensors
from layouts import Layout
from run_layout import Mtc, Report

LONG, SHORT = 32, 16
BATCH = 16  # samples of a step
SPEC, STILL = "gpt2-nano", "gpt2-nano-nodrop"
STEPS, TURN = 4, 2  # steps of a run, and the first of them that have SHORT
RATE, BETA1, BETA2, EPS, DECAY = 1e-2, 0.9, 0.95, 1e-8, 0.1
FIXED = ["--lr", RATE, "--min-lr", RATE, "--decay", "constant", "--clip", 0,
         "--beta1", BETA1, "--beta2", BETA2, "--weight-decay", DECAY]
# Updates are at most about the rate, in some ten operations of fp32.
UPDATE = 2e-6 * RATE
ALONE = [
    ("f32", Layout()),
    ("f32", Layout(2, 2, 2, 1)),
    ("f32", Layout(1, 2, 2, 2, "zb-h1", recompute="full", overlap="p2p,grad-reduce")),
    ("f32", Layout(2, 2, 1, 0, "interleaved-1f1b", chunks=2, sp=True)),
    ("bf16", Layout(1, 2, 2, 1, cp=2, overlap="p2p,param-gather", comm_thread=True)),
]
# Without dropout a step of training is what an evaluation would see.
SWITCHED = [Layout(), Layout(1, 2), Layout(1, 4, 1, 0, "zb-h1"), Layout(2, 1, 2, 0),
            Layout(2, 2, 2, 1), Layout(2, 1, 2, 1, recompute="selective")]


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = self.path("data.bin")
        corpus.write(self.data)

    def path(self, *names):
        return os.path.join(self.folder, *map(str, names))

    def compile(self, spec, lengths, layout, dtype="f32"):
        text = ",".join(map(str, lengths))
        bundle = self.path(f"{spec}-{text}-{dtype}-{layout.name}")
        if not os.path.exists(bundle):
            self.mtc.compile(spec, layout, bundle, ["--seq", text, *precision.options(dtype)])
        return bundle

    def run(self, bundle, out, *extra, data=None, steps=STEPS, dumps=("grads@1", "params")):
        log = self.mtc.run(bundle, ["--data", data or self.data, "--data-type", "u8",
                                    "--order", "sequential", "--steps", steps, *FIXED],
                           self.path(out), dumps=dumps, extra=extra)
        return [(step["loss"], step["grad_norm"]) for step in log]

    def read(self, out, name):
        return safetensors.read(self.path(out, name + ".safetensors"))

    #===--- alone and memory ------------------------------------------------===#

    def alone(self, dtype, layout):
        both = self.compile(SPEC, (SHORT, LONG), layout, dtype)
        arenas = []
        for length in (LONG, SHORT):
            own = self.compile(SPEC, (length,), layout, dtype)
            what = f"{layout.name} {dtype}, {length} tokens"
            wanted, found = self.bits(own), self.bits(both, "--seq", length)
            self.report.expect(wanted == found, f"{what}: expected {wanted}, found {found}")
            arenas.append(self.arenas(own))
        self.memory(f"{layout.name} {dtype}", self.arenas(both), *arenas)

    def bits(self, bundle, *extra):
        log = self.run(bundle, "out", *extra)
        loss = self.mtc.call("run", bundle, "--eval", 3, "--data", self.data, "--data-type",
                             "u8", "--init-from", self.path("out", "params.safetensors"),
                             "--quiet", *extra).stdout
        return log, json.loads(loss)["eval_loss"], [
            safetensors.digest(self.read("out", name)) for name in ("grads@1", "params")]

    def arenas(self, bundle):
        """Bytes by stage and arena."""
        stages = sorted(name for name in os.listdir(os.path.join(bundle, "programs"))
                        if not name.endswith(".so"))
        found = []
        for stage in stages:
            text = self.mtc.call("inspect", os.path.join(bundle, "programs", stage)).stdout
            lines = text.split("arenas (bytes):\n")[1].splitlines()[:7]
            found.append({line.split()[0]: int(line.split()[1]) for line in lines})
        return found

    def memory(self, what, both, long, short):
        for stage, (b, l, s) in enumerate(zip(both, long, short, strict=True)):
            wanted = {arena: max(l[arena], s[arena]) for arena in l}
            self.report.expect(b == wanted, f"{what}: expected {wanted} of stage {stage}, "
                               f"the larger of two, found {b}")
            for arena in ("params", "grads", "optimizer"):
                self.report.expect(l[arena] == s[arena], f"{what}: {arena} of stage {stage} "
                                   f"has {l[arena]} and {s[arena]} bytes")

    #===--- switch ----------------------------------------------------------===#

    def switch(self):
        """The run on one rank, step by step."""
        both = self.compile(STILL, (SHORT, LONG), Layout())
        dumps = [f"{what}@{step}" for what in ("grads", "params") for step in range(1, STEPS)]
        log = self.run(both, "switched", "--seq", f"{SHORT}:{TURN}, {LONG}",
                       dumps=("params", "init", *dumps))
        self.gradients(log[TURN])
        self.updates()
        return log

    def gradients(self, found):
        """Of the first step of the other length, at the same parameters."""
        rest = self.path("rest.bin")
        with open(self.data, "rb") as whole, open(rest, "wb") as file:
            file.write(whole.read()[TURN * BATCH * LONG:])
        own = self.compile(STILL, (LONG,), Layout())
        log = self.run(own, "own", "--init-from",
                       self.path("switched", f"params@{TURN}.safetensors"), data=rest, steps=1)
        self.report.expect(log[0] == found, f"expected {log[0]} of a bundle for {LONG} tokens "
                           f"alone in step {TURN + 1}, found {found}")
        same = safetensors.digest(self.read("own", "grads@1")) == safetensors.digest(
            self.read("switched", f"grads@{TURN + 1}"))
        self.report.expect(same, f"gradients of step {TURN + 1} are not those of a bundle for "
                           f"{LONG} tokens alone")

    def updates(self):
        """Each by the gradients that were dumped, with moments from the first step on."""
        gradients = [self.read("switched", f"grads@{step}") for step in range(1, STEPS)]
        values = [self.read("switched", name) for name in
                  ("init", *(f"params@{step}" for step in range(1, STEPS)))]
        worst = 0
        for name, first in values[0].items():
            decay = 0 if len(first.shape) == 1 or name.endswith("bias") else DECAY
            m = array.array("d", bytes(8 * len(first.values())))
            v = m[:]
            for step, gradient in enumerate(gradients, 1):
                before, after = (values[k][name].values() for k in (step - 1, step))
                for i, g in enumerate(gradient[name].values()):
                    m[i] = BETA1 * m[i] + (1 - BETA1) * g
                    v[i] = BETA2 * v[i] + (1 - BETA2) * g * g
                    moved = m[i] / (1 - BETA1**step) / (
                        math.sqrt(v[i] / (1 - BETA2**step)) + EPS)
                    wanted = before[i] * (1 - RATE * decay) - RATE * moved
                    worst = max(worst, abs(wanted - after[i]) - 6e-8 * abs(after[i]))
        print(f"updates within {worst:.1e}", flush=True)
        self.report.expect(worst <= UPDATE, f"an update is {worst:.2e} from AdamW's, "
                           f"allowed {UPDATE:.0e}")

    def layouts(self, log):
        """All have the numbers of one rank (N5), and those of a class its bits (N4)."""
        classes = {}
        for layout in SWITCHED:
            bundle = self.compile(STILL, (SHORT, LONG), layout)
            found = self.run(bundle, "layout", "--seq", f"{SHORT}:{TURN}, {LONG}")
            digest = safetensors.digest(self.read("layout", "params"))
            wanted = classes.setdefault(layout.numerics_class, (found, digest))
            self.report.expect(wanted == (found, digest),
                               f"{layout.name}: expected {wanted}, found {(found, digest)}")
            for step, (one, other) in enumerate(zip(log, found, strict=True), 1):
                error = max(abs(a - b) / abs(a) for a, b in zip(one, other))
                # Losses have 2e-6 and norms 1e-5 in one step (N5); rates are large here.
                self.report.expect(error <= 5e-5, f"{layout.name}: step {step} is "
                                   f"{error:.1e} from one rank: {other}, {one}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        for dtype, layout in ALONE:
            print(f"alone: {layout.name} {dtype}", flush=True)
            tester.alone(dtype, layout)
        tester.layouts(tester.switch())
    return report.finish(f"{len(ALONE)} layouts alone, {len(SWITCHED)} switched")


if __name__ == "__main__":
    sys.exit(main())
