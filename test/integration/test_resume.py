#!/usr/bin/env python3
"""Runs that go on from checkpoints.

usage: test_resume.py BIN_DIR [--hops N] [--seed N] [--every N]

Every step: a run of 20 steps in eight ranks that saves behind each; from every k-th of these
checkpoints (--every; 1: from all) another run goes on to the end, and leaves the files of the
first to the byte, and its log. A run that writes them beside training (--async-save) has the
same files.

Hops: layouts in which every pair of choices meets (pairs.py), in an order by seed. Each
loads the checkpoint of the one before and saves it again, before it trains a step: what it
saved has the bits of what it loaded, by a reader of its own (checkpoints.py). Behind the step
losses, norms and the checkpoint have the bits of the plain layout of its class that went on
from the same one (N4), and the loss is that of one process (N5). --hops takes so many.

And what becomes of checkpoints that are damaged, of another model, of another global batch
(checkpoint_policies.py).
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

import checkpoints
import precision
from checkpoint_policies import Policies
from layouts import GLOBAL_BATCH, SINGLE, TP2_PP2_DP2, Layout
from pairs import covering, layout_of, plain
from run_layout import OF_THE_MACHINE, Mtc, Report, read_log, relative
from small_spec import small_spec
from tiny_model import tokens

STEPS = 20
SIZES = {"name": "hops", "vocab": 64, "padded": 64, "layers": 4, "hidden": 32, "heads": 4,
         "ffn": 64, "longest": 16, "norm": "layer_norm", "dropout": 0.1}
# Each has half of the layouts: ranks along tp share key heads, in slices of one tensor or not.
MODELS = ({"tied": True, "qkv": "fused", "kv_heads": 2},
          {"tied": False, "qkv": "separate", "kv_heads": 1})
# N5: one step of another layout; in bf16 as in test_random.py, in fp16 an eighth of that, as
# its values have three bits more.
LOSS = {"f32": 2e-6, "bf16": 2e-4, precision.SUMS: 2e-4, "fp16": 2.5e-5}
# Of fp16: where a run from a checkpoint of another type begins, so that no step is skipped.
SCALE = 1024


def numbers(log):
    """What is logged of steps, but for times."""
    return [{key: value for key, value in line.items()
             if key not in OF_THE_MACHINE} for line in log]


def contents(folder):
    files = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            files[name] = file.read()
    return files


class Resume:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        with open(self.path("data"), "wb") as file:
            file.write(tokens(40000))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def compile(self, model, layout, dtype, bundle, batch=GLOBAL_BATCH, **other):
        spec = self.path("spec.toml")
        with open(spec, "w") as file:
            file.write(small_spec(**{**SIZES, **model, **other}))
        self.mtc.call("compile", spec, *layout.options(batch), *precision.options(dtype),
                      "--jobs", 2, "-o", self.path(bundle))
        return self.path(bundle)

    def run(self, bundle, steps, *options, comm="shm", log=None):
        """Trains to step `steps`; the log's lines."""
        log = self.path(log or "log.jsonl")
        if os.path.exists(log):
            os.remove(log)
        self.mtc.call("run", bundle, "--data", self.path("data"), "--data-type", "u8",
                      "--decay", "constant", "--lr", 1e-3, "--quiet", "--comm", comm,
                      "--initial-loss-scale", SCALE,
                      "--steps", steps, "--log", log, *options)
        return read_log(log)

    def every_step(self, every):
        bundle = self.compile(MODELS[0], TP2_PP2_DP2, "bf16", "eight")
        saved = self.path("all")
        log = self.run(bundle, STEPS, "--checkpoints", saved, "--save-interval", 1)
        self.report.expect(checkpoints.steps(saved) == list(range(1, STEPS + 1)),
                           f"expected {STEPS} checkpoints, found {checkpoints.steps(saved)}")
        beside = self.path("beside")
        told = self.run(bundle, STEPS, "--checkpoints", beside, "--save-interval", 1,
                        "--async-save")
        self.report.expect(numbers(told) == numbers(log),
                           "--async-save: expected the log of the run without")
        for k in range(1, STEPS + 1):
            self.report.expect(contents(checkpoints.of_step(beside, k))
                               == contents(checkpoints.of_step(saved, k)),
                               f"--async-save: expected the files of step {k}")
        shutil.rmtree(beside)
        last = contents(checkpoints.of_step(saved, STEPS))
        for k in range(1, STEPS, every):
            own = self.path("own")
            shutil.copytree(checkpoints.of_step(saved, k), checkpoints.of_step(own, k))
            found = self.run(bundle, STEPS, "--checkpoints", own, "--resume",
                             comm=("shm", "threads")[k % 2])
            self.report.expect(numbers(found) == numbers(log[k:]), f"from step {k}: expected "
                               "the log of the run that was not stopped")
            self.report.expect(contents(checkpoints.of_step(own, STEPS)) == last,
                               f"from step {k}: expected the files of the run that was not "
                               "stopped")
            shutil.rmtree(own)
        shutil.rmtree(saved)

    def hop(self, model, row, before, step):
        """Loads `before`, of `step`; the folder of the next step's checkpoint."""
        layout, dtype = layout_of(row), row["dtype"]
        name = f"to {layout.name} in {dtype}"
        comm = ("shm", "threads")[step % 2]
        bundle = self.compile(model, layout, dtype, "bundle")
        same, after = self.path("same"), self.path(f"after{step}")
        self.run(bundle, step, "--checkpoints", same, "--load", before, comm=comm)
        self.report.expect(
            checkpoints.tensors(checkpoints.of_step(same, step)) == checkpoints.tensors(before),
            f"{name}: expected to save the bits that it loaded")
        log = self.run(bundle, step + 1, "--checkpoints", after, "--load", before, comm=comm)
        after = checkpoints.of_step(after, step + 1)
        other = self.compile(model, plain(layout), dtype, "plain")
        folder = self.path("like")
        like = self.run(other, step + 1, "--checkpoints", folder, "--load", before)
        self.report.expect(numbers(log) == numbers(like), f"{name}: expected the numbers of "
                           f"{plain(layout).name}, {numbers(like)}, found {numbers(log)}")
        self.report.expect(
            checkpoints.tensors(after)
            == checkpoints.tensors(checkpoints.of_step(folder, step + 1)),
            f"{name}: expected the checkpoint of {plain(layout).name}")
        single = self.run(self.compile(model, SINGLE, dtype, "single"), step + 1,
                          "--load", before)
        error = relative(single[-1]["loss"], log[-1]["loss"])
        self.report.expect(error <= LOSS[dtype],
                           f"{name}: its loss is {error:.1e} from one process's")
        for used in (same, folder, os.path.dirname(before)):
            shutil.rmtree(used)
        return after

    def hops(self, rows):
        """Rows of one model follow each other."""
        for number, model in enumerate(MODELS):
            start = self.path("start")
            self.run(self.compile(model, SINGLE, "f32", "single"), 2, "--checkpoints", start)
            before = checkpoints.of_step(start, 2)
            for step, row in enumerate(rows[number::len(MODELS)], 2):
                before = self.hop(model, row, before, step)
            shutil.rmtree(os.path.dirname(before))

    def policies(self):
        """Without dropout: evaluations say what steps compute."""
        bundle = self.compile(MODELS[0], TP2_PP2_DP2, "f32", "sure", dropout=0)
        policies = Policies(self, bundle, self.compile(MODELS[0], SINGLE, "f32", "fewer",
                                                       dropout=0, layers=3))
        policies.all()
        policies.of_another_name(self.compile(MODELS[0], SINGLE, "f32", "named", dropout=0,
                                              name="others"))

    def batches(self):
        first = self.compile(MODELS[0], TP2_PP2_DP2, "f32", "first", dropout=0)
        half = Layout(tp=4, micro_batch=8)
        Policies(self, first, "").batches(
            self.compile(MODELS[0], half, "f32", "half", 8, dropout=0),
            self.compile(MODELS[0], Layout(micro_batch=8), "f32", "one", 8, dropout=0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--hops", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    report, start = Report(), time.monotonic()
    rows = random.Random(options.seed).sample(covering()[0], options.hops or len(covering()[0]))
    with tempfile.TemporaryDirectory() as folder:
        resume = Resume(Mtc(), report, folder)
        resume.policies()
        shutil.rmtree(resume.path("policies"))
        resume.batches()
        resume.every_step(options.every)
        resume.hops(rows)
    return report.finish(f"{len(range(1, STEPS, options.every))} resumed runs and {len(rows)} "
                         f"hops between layouts, in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
