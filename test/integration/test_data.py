#!/usr/bin/env python3
"""Data of a run: corpora, blends and splits of Megatron-LM, llm.c's files; and evaluations
while a run trains.

usage: test_data.py BIN_DIR

That indices are Megatron's is shown by GptIndex.EqualsMegatrons. Here: layouts train on the
same samples; an evaluation changes no bit of training, and gives the numbers of `--eval` of
a checkpoint of its step, and those of a run that went on from an earlier one; indices are
kept, and built again where they are damaged or the corpus is another one.
"""

import os
import random
import shutil
import sys
import tempfile

from indexed import write_corpus, write_llmc
from run_layout import Mtc, Report, read_log, relative
from tiny_model import SPEC

BATCH, STEPS = 8, 7
# Parameters that live on in parts, gathered late, or as bf16 beside fp32.
LAYOUTS = {"one": [], "pp2-tp2": ["--pp", 2, "--tp", 2],
           "dp2-zero1": ["--dp", 2, "--zero", 1, "--overlap", "p2p,param-gather"],
           "cp2-zero2": ["--cp", 2, "--dp", 2, "--zero", 2]}
N5 = 2e-6  # one step in another order of sums


def documents(count, longest, seed):
    draw = random.Random(seed)
    return [[draw.randrange(64) for _ in range(draw.randrange(longest))] for _ in range(count)]


class Data:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        with open(self.path("tiny.toml"), "w") as file:
            file.write(SPEC)
        for name, options in LAYOUTS.items():
            mtc.call("compile", self.path("tiny.toml"), "--gbs", BATCH, *options, "--jobs", 2,
                     "-o", self.path(name))
        write_corpus(self.path("a"), documents(60, 40, 1))
        write_corpus(self.path("b"), documents(200, 15, 2), code=4)
        with open(self.path("held-out"), "wb") as file:
            file.write(bytes(random.Random(3).randrange(64) for _ in range(400)))
        self.blend = f"0.7 {self.path('a')} 0.3 {self.path('b')}"

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, bundle, *options, steps=STEPS, log="log", check=True):
        """The lines of steps, and those of evaluations."""
        result = self.mtc.call("run", self.path(bundle), "--steps", steps, "--quiet",
                               "--log", self.path(log), *options, check=check)
        lines = read_log(self.path(log))
        os.remove(self.path(log))
        steps = [(line["step"], line["loss"], line["grad_norm"]) for line in lines
                 if "loss" in line]
        return steps, [line for line in lines if "eval_loss" in line], result.stderr

    def layouts_agree(self):
        """Evaluations of the split's second part, which go on through it."""
        options = ["--data", self.blend, "--split", "8,2"]
        evaluated = ["--eval-interval", 3, "--eval-steps", 2]
        first, first_losses = None, None
        for name in LAYOUTS:
            plain, none, _ = self.run(name, *options)
            steps, losses, _ = self.run(name, *options, *evaluated)
            self.report.expect(plain == steps and not none,
                               f"{name}: an evaluation changes training")
            self.report.expect([line["step"] for line in losses] == [3, 6, 7],
                               f"{name}: evaluations behind 3, 6 and 7, found {losses}")
            self.report.expect([line["first_sample"] for line in losses] == [0, 16, 32],
                               f"{name}: each evaluation has samples of its own")
            first, first_losses = first or steps, first_losses or losses
            far = [relative(a[1], b[1]) for a, b in zip(first, steps)]
            far += [relative(a["eval_loss"], b["eval_loss"])
                    for a, b in zip(first_losses, losses)]
            self.report.expect(max(far) < STEPS * N5,
                               f"{name}: losses of one process, off by {max(far):.1e}")

    def equal_those_of_checkpoints(self):
        """The same file again and again, in its order, as --eval reads it."""
        held_out = ["--eval-data", self.path("held-out")]
        data = ["--data", self.path("a"), "--data-type", "u8"]
        evaluated = [*data, *held_out, "--eval-interval", 2, "--eval-steps", 3]
        for name in ("pp2-tp2", "dp2-zero1", "cp2-zero2"):
            checkpoints = ["--checkpoints", self.path("c-" + name), "--save-interval", 2]
            steps, losses, _ = self.run(name, *evaluated, *checkpoints)
            for line in losses:
                result = self.mtc.call(
                    "run", self.path(name), *data, *held_out, "--eval", 3, "--quiet", "--load",
                    self.path("c-" + name, f"step-{line['step']:08}"), "--log", self.path("e"))
                (alone,) = read_log(self.path("e"))
                os.remove(self.path("e"))
                self.report.expect(alone == line, f"{name}, step {line['step']}: --eval of its "
                                                  f"checkpoint gives {alone}, training {line}")
            for step in (4, 6, 7):
                shutil.rmtree(self.path("c-" + name, f"step-{step:08}"))
            again, evaluations, _ = self.run(name, *evaluated, *checkpoints, "--resume")
            self.report.expect(again == steps[2:] and evaluations == losses[1:],
                               f"{name}: a run that goes on from step 2 evaluates the same")

    def indices_are_kept(self):
        cache = self.path("indices")
        options = ["--data", self.blend, "--data-cache-path", cache]
        first, _, said = self.run("one", *options, steps=2)
        kept = {name: os.stat(os.path.join(cache, name)).st_mtime_ns
                for name in os.listdir(cache)}
        again, _, _ = self.run("one", *options, steps=2)
        now = {name: os.stat(os.path.join(cache, name)).st_mtime_ns
               for name in os.listdir(cache)}
        self.report.expect(len(kept) == 3 and kept == now and again == first and not said,
                           f"two corpora and a blend keep three indices, found {kept}, {now}")
        for name in kept:
            with open(os.path.join(cache, name), "r+b") as file:
                file.seek(-1, os.SEEK_END)
                last = file.read(1)
                file.seek(-1, os.SEEK_END)
                file.write(bytes([last[0] ^ 1]))
        again, _, said = self.run("one", *options, steps=2)
        self.report.expect(again == first and said.count("it is built again") == 3,
                           f"damaged indices are named and built again, found {said!r}")
        write_corpus(self.path("b"), documents(200, 15, 9), code=4)
        other, _, _ = self.run("one", *options, steps=2)
        self.report.expect(len(os.listdir(cache)) in (4, 5) and other != first,
                           "another corpus of the same name has an index of its own")

    def orders_are_compared(self):
        """A run that goes on says what makes its samples come in another order."""
        saved = self.path("c-order")
        corpora = ["--data", self.blend, "--split", "8,2"]
        a, b = (self.path(name) for name in "ab")
        self.run("one", *corpora, "--checkpoints", saved, steps=4)
        wrong = []
        for what, options, says in (
                ("the same", corpora, []),
                ("another seed", [*corpora, "--seed", 7], ["seed 1234, now 7"]),
                ("another split", ["--data", self.blend, "--split", "9,1"],
                 ["sequence 0 to 48, now", "0 to 54"]),
                ("other weights", ["--data", f"0.3 {a} 0.7 {b}", "--split", "8,2"],
                 ["shares 0.7 0.3, now 0.3 0.7"]),
                ("another corpus", ["--data", f"0.7 {b} 0.3 {b}", "--split", "8,2"],
                 ["corpus 1 ", "(its digest)"]),
                ("their order", [*corpora, "--order", "sequential"],
                 ["order shuffled, now sequential", "seed 1234, now none"]),
                ("more epochs", [*corpora, "--data-samples", 4000], ["epochs of corpus 1 "]),
                ("a flat file", ["--data", self.path("held-out"), "--data-type", "u8"],
                 ["corpus 1 ", ", now none", "data none, now"])):
            _, _, said = self.run("one", *options, "--load", saved, steps=5)
            warned = "come in another order than before the checkpoint" in said
            if warned != bool(says) or any(text not in said for text in says):
                wrong.append(f"{what}: expected a warning with {says}, found {said!r}")
            if says and f"with sample {4 * BATCH} of the new order" not in said:
                wrong.append(f"{what}: expected the next sample in {said!r}")
        self.report.expect_none(wrong)

    def orders_outlive_other_lengths(self):
        """A run that reads samples of another length forgets nothing of those of before."""
        saved = self.path("c-lengths")
        self.mtc.call("compile", self.path("tiny.toml"), "--gbs", BATCH, "--seq", 8, "-o",
                      self.path("short"))
        wrong = []
        for bundle, steps, seed, says in (("one", 1, 1, []), ("short", 2, 2, []),
                                          ("one", 3, 3, ["seed 1, now 3"]),
                                          ("short", 4, 2, []), ("one", 5, 3, [])):
            _, _, said = self.run(bundle, "--data", self.path("a"), "--seed", seed,
                                  "--checkpoints", saved, "--resume", steps=steps)
            if ("come in another order" in said) != bool(says) or any(
                    text not in said for text in says):
                wrong.append(f"{bundle}, step {steps}: expected a warning with {says}, "
                             f"found {said!r}")
        self.report.expect_none(wrong)

    def reads_llmc(self):
        tokens = [7 * i % 64 for i in range(2000)]
        write_llmc(self.path("l.bin"), tokens)
        with open(self.path("raw"), "wb") as file:
            file.write(bytes(tokens))
        self.report.expect(
            self.run("one", "--data", self.path("l.bin")) ==
            self.run("one", "--data", self.path("raw"), "--data-type", "u8"),
            "llm.c's file trains as its tokens do")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        data = Data(mtc, report, folder)
        data.layouts_agree()
        data.equal_those_of_checkpoints()
        data.orders_are_compared()
        data.orders_outlive_other_lengths()
        data.indices_are_kept()
        data.reads_llmc()
    return report.finish(f"data: {len(LAYOUTS)} layouts")


if __name__ == "__main__":
    sys.exit(main())
