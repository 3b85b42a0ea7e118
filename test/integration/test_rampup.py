#!/usr/bin/env python3
"""Global batches of several sizes from one bundle, and runs in which they grow.

  alone    a bundle for 4 and 16 samples, trained with one of them, has the bits of a bundle
           for that batch alone: losses, norms, gradients, parameters, and evaluations; its
           arenas are as large as the larger of the two, and those that last the same
  ramp     a run has the batches that Megatron-LM's rule gives (here written again), and its
           log their samples and tokens; a step has the loss and the gradients that a bundle
           for its batch alone has at the same parameters and samples; eight ranks in tp, pp
           and dp have the losses of one process
  resume   from a checkpoint within the ramp a run goes on to the same files, to the byte;
           other layouts go on with the same samples; evaluations have the batch of the end
  samples  a run that ends behind so many samples has the steps that fit, and each the rate of
           its own samples, from a checkpoint, too; one of other batches is rejected

usage: test_rampup.py BIN_DIR [--all]

Without --all one layout is trained alone.
"""

import json
import os
import re
import shutil
import sys
import tempfile

import checkpoints
import safetensors
from layouts import TP2_PP2_DP2, Layout
from run_layout import OF_THE_MACHINE, Mtc, Report, relative
from test_lengths import Tester as Lengths

SPEC, STILL = "gpt2-nano", "gpt2-nano-nodrop"
SEQ = 32
RAMP = (4, 4, 40)  # start, increment, samples
ALL, LAST, STEPS = (4, 8, 12, 16), 16, 9
ALONE = [(Layout(1, 2, 2, 1, "zb-h1", recompute="full", comm_thread=True,
                 overlap="p2p,grad-reduce,param-gather"), (4, 16)),
         (Layout(2, 2, 1, 0, "interleaved-1f1b", chunks=2, sp=True), (8, 16))]
# N5: losses of one step of another layout, which grow with the steps between.
LOSS = 2e-6 * STEPS


def growing(consumed, steps):
    """(first sample, samples) of each step."""
    start, increment, ramp = RAMP
    each = ramp / ((LAST - start) // increment)
    found = []
    for _ in range(steps):
        batch = LAST if consumed > ramp else start + int(consumed / each) * increment
        found.append((consumed, batch))
        consumed += batch
    return found


class Tester(Lengths):
    def compile(self, spec, batches, layout):
        text = ",".join(map(str, batches))
        bundle = self.path(f"{spec}-{text}-{layout.name}")
        if not os.path.exists(bundle):
            self.mtc.call("compile", spec, *layout.options(text), "--seq", SEQ, "--jobs", 2,
                          "-o", bundle)
        return bundle

    def run(self, bundle, out, *extra, dumps=(), data=None, steps=STEPS):
        """The steps of the log."""
        return self.mtc.run(bundle, ["--data", data or self.data, "--data-type", "u8",
                                     "--order", "sequential", "--steps", steps],
                            self.path(out), dumps=dumps, extra=extra)

    def digest(self, out, name):
        return safetensors.digest(self.read(out, name))

    #===--- alone -----------------------------------------------------------===#

    def alone(self, layout, batches):
        both = self.compile(SPEC, batches, layout)
        arenas = []
        for batch in reversed(batches):
            own = self.compile(SPEC, (batch,), layout)
            wanted = self.bits(own)
            found = self.bits(both, "--global-batch-size", batch)
            self.report.expect(wanted == found, f"{layout.name}, batch {batch}: expected "
                               f"{wanted}, found {found}")
            arenas.append(self.arenas(own))
        self.memory(layout.name, self.arenas(both), *arenas)

    def bits(self, bundle, *extra):
        log = self.run(bundle, "out", *extra, dumps=("grads@1", "params", "logits"), steps=3)
        loss = self.mtc.call("run", bundle, "--eval", 3, "--data", self.data, "--data-type",
                             "u8", "--init-from", self.path("out", "params.safetensors"),
                             "--quiet", *extra).stdout
        return [(step["loss"], step["grad_norm"], step["samples"], step["tokens"])
                for step in log], json.loads(loss)["eval_loss"], [
            self.digest("out", name) for name in ("grads@1", "params", "logits")]

    #===--- ramp ------------------------------------------------------------===#

    def ramp(self):
        bundle = self.compile(STILL, ALL, Layout())
        dumps = [f"{what}@{step}" for what in ("grads", "params") for step in range(1, STEPS)]
        log = self.run(bundle, "ramp", "--rampup-batch-size", *RAMP, dumps=dumps)
        self.counts(log)
        for step in (5, 7):  # of 8 and of 12 samples
            self.step(log, step)
        eight = self.compile(STILL, ALL, TP2_PP2_DP2)
        other = self.run(eight, "eight", "--rampup-batch-size", *RAMP)
        self.counts(other)
        for one, two in zip(log, other, strict=True):
            error = relative(one["loss"], two["loss"])
            self.report.expect(error <= LOSS, f"step {one['step']}: the loss of eight ranks "
                               f"is {error:.1e} from that of one")

    def counts(self, log, done=0):
        for line, (first, batch) in zip(log, growing(0, STEPS)[done:], strict=True):
            found = [line[key] for key in ("global_batch", "samples", "tokens")]
            wanted = [batch, first + batch, SEQ * (first + batch)]
            self.report.expect(found == wanted, f"step {line['step']}: expected global_batch, "
                               f"samples and tokens {wanted}, found {found}")

    def step(self, log, step):
        """As the first one of a bundle for its batch, of the same parameters and samples."""
        first, batch = growing(0, STEPS)[step - 1]
        rest = self.path("rest.bin")
        with open(self.data, "rb") as whole, open(rest, "wb") as file:
            file.write(whole.read()[first * SEQ:])
        own = self.compile(STILL, (batch,), Layout())
        found = self.run(own, "own", "--init-from",
                         self.path("ramp", f"params@{step - 1}.safetensors"),
                         data=rest, dumps=("grads@1",), steps=1)[0]
        for key in ("loss", "grad_norm"):
            self.report.expect(found[key] == log[step - 1][key], f"step {step}: expected the "
                               f"{key} {found[key]} of {batch} samples alone, found "
                               f"{log[step - 1][key]}")
        self.report.expect(self.digest("own", "grads@1") == self.digest("ramp", f"grads@{step}"),
                           f"step {step}: expected the gradients of {batch} samples alone")

    #===--- resume ----------------------------------------------------------===#

    def resume(self):
        bundle = self.compile(SPEC, ALL, TP2_PP2_DP2)
        ramp = ("--rampup-batch-size", *RAMP, "--decay", "constant", "--eval-data", self.data,
                "--eval-interval", 3, "--eval-steps", 2)
        saved = self.path("all")
        lines = self.run(bundle, "whole", *ramp, "--checkpoints", saved, "--save-interval", 1)
        last = self.contents(saved)
        for k in (2, 5):
            own = self.path(f"from{k}")
            shutil.copytree(checkpoints.of_step(saved, k), checkpoints.of_step(own, k))
            found = self.run(bundle, "rest", *ramp, "--checkpoints", own, "--resume")
            wanted = [line for line in lines if line["step"] > k]
            self.report.expect(self.numbers(found) == self.numbers(wanted), f"from step {k}: "
                               f"expected the log {wanted}, found {found}")
            self.report.expect(self.contents(own) == last, f"from step {k}: expected the files "
                               "of the run that was not stopped")
        self.evaluations(bundle, lines, saved)
        self.other_layout(ramp, saved, lines)

    def evaluations(self, bundle, lines, saved):
        found = [line["eval_loss"] for line in lines if "eval_loss" in line]
        for step, loss in zip((3, 6, 9), found, strict=True):
            out = self.mtc.call("run", bundle, "--eval", 2, "--eval-data", self.data,
                                "--data-type", "u8", "--load",
                                checkpoints.of_step(saved, step), "--quiet").stdout
            self.report.expect(json.loads(out)["eval_loss"] == loss, f"step {step}: expected "
                               f"the loss of --eval, {out.strip()}, found {loss}")

    def other_layout(self, ramp, saved, lines):
        """One process, from a checkpoint of eight ranks; Megatron-LM's lines of it."""
        own = self.path("one")
        shutil.copytree(checkpoints.of_step(saved, 4), checkpoints.of_step(own, 4))
        log = self.path("one.jsonl")
        bundle = self.compile(SPEC, ALL, Layout())
        out = self.mtc.call("run", bundle, "--data", self.data, "--data-type", "u8", "--order",
                            "sequential", "--steps", STEPS, *ramp, "--checkpoints", own,
                            "--resume", "--log", log, "--log-style", "megatron").stdout
        with open(log) as file:
            found = [line for line in map(json.loads, file) if "lr" in line]
        self.counts(found, done=4)
        wanted = [line for line in lines if "lr" in line][4:]
        for one, two in zip(found, wanted, strict=True):
            self.report.expect(relative(one["loss"], two["loss"]) <= LOSS, f"step "
                               f"{one['step']}: expected the loss of eight ranks "
                               f"{two['loss']}, found {one['loss']}")
        told = re.findall(r"consumed samples: +(\d+) .*global batch size: +(\d+)", out)
        steps = [(str(first + batch), str(batch)) for first, batch in growing(0, STEPS)[4:]]
        self.report.expect(told == steps, f"expected Megatron-LM's lines to say {steps}, found "
                           f"{told}")

    #===--- samples ---------------------------------------------------------===#

    def samples(self):
        bundle = self.compile(STILL, ALL, Layout())
        saved = self.path("counted")
        total = sum(batch for _, batch in growing(0, STEPS)) + LAST - 1
        # A warm-up over all of it: rates are proportional to the samples.
        recipe = ["--data", self.data, "--data-type", "u8", "--samples", total, "--lr",
                  total * 1e-5, "--warmup-samples", total, "--decay", "constant"]
        ramp = ("--rampup-batch-size", *RAMP)
        log = self.mtc.run(bundle, recipe, self.path("samples"), extra=(
            *ramp, "--checkpoints", saved, "--save-interval", 5))
        self.rates(log)
        kept = checkpoints.of_step(saved, 5)
        log = self.mtc.run(bundle, recipe, self.path("samples"), extra=(
            *ramp, "--load", kept))
        self.rates(log, done=5)
        result = self.mtc.call("run", bundle, *recipe, "--load", kept, check=False)
        self.report.expect(result.returncode == 2 and "of other global batches" in result.stderr,
                           f"a checkpoint of a ramp in a run without one: expected exit code 2, "
                           f"found {result.returncode} and {result.stderr!r}")

    def rates(self, log, done=0):
        self.counts(log, done)
        for line, (first, batch) in zip(log, growing(0, STEPS)[done:], strict=True):
            error = relative((first + batch) * 1e-5, line["lr"])
            self.report.expect(error <= 1e-7, f"step {line['step']}: expected a rate of 1e-5 a "
                               f"sample, found {line['lr']}")  # fp32 in the step block

    def numbers(self, log):
        return [{key: value for key, value in line.items() if key not in OF_THE_MACHINE}
                for line in log]

    def contents(self, folder):
        step = checkpoints.of_step(folder, STEPS)
        files = {}
        for name in sorted(os.listdir(step)):
            with open(os.path.join(step, name), "rb") as file:
                files[name] = file.read()
        return files


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        for layout, batches in ALONE if "--all" in sys.argv else ALONE[:1]:
            print(f"alone: {layout.name}", flush=True)
            tester.alone(layout, batches)
        tester.ramp()
        tester.resume()
        tester.samples()
    return report.finish(f"{len(ALONE)} layouts alone, {STEPS} steps")


if __name__ == "__main__":
    sys.exit(main())
