#!/usr/bin/env python3
"""Does training notice a wrong kernel? One instruction of the PTX in a program is changed, and the
program trains two steps under the stand-ins.

usage: mutate_training.py BIN_DIR STAND_INS MUTATE_TEXT [--mutants N] [--seed N] [--log FILE]

A mutant is refused, ends with a fault or another error, does not end, has other numbers (losses,
norms, gradients, parameters) than the program, or has its bits: then it is looked for a rule by
which it has them (test/cuda/kernels/equivalence.h), in what its kernel's warps read and wrote with
and without the change. The others are listed with their lines. The model is tiny and in bf16. Each
text of PTX has as many mutants: the program's kernels, the norm's, attention's.

Mutant number I depends on the seed and on I alone. A FILE gets a line for each, and those that
have one are not run again.
"""

import argparse
import collections
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "integration"))

import corpus
import digests_of
import safetensors
from run_layout import Mtc, Report, read_log
from small_spec import small_spec

TINY = {"name": "tiny", "vocab": 250, "padded": 256, "layers": 2, "hidden": 16, "heads": 2,
        "ffn": 32, "longest": 8, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
STEPS, PATIENCE = 2, 60  # seconds, of a run that takes one
EQUAL, OTHER_REASON = "equal", "equal for another reason"
# A text of PTX in a program ends with a zero; comments stand in front of it.
TEXT = re.compile(rb"(?:(?://[^\0\n]*)?\n)*\.version [^\0]*")
# Entries that this training calls, by a part of their names; of a text with none of them nothing
# is changed.
CALLED = re.compile(rb"\.entry (kernel|mtc_cuda_norm|mtc_attention_forward_bf16_d32\()")


class Training:
    """A program of one rank, trained with any text in place of one of its own."""

    def __init__(self, mtc, stand_ins, mutate, folder):
        self.mtc, self.mutate, self.folder = mtc, mutate, folder
        self.environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(stand_ins))
        self.data, spec = (os.path.join(folder, name) for name in ("data", "spec.toml"))
        corpus.write(self.data)
        with open(spec, "w") as file:
            file.write(small_spec(tied=True, **TINY))
        self.bundle = os.path.join(folder, "bundle")
        mtc.call("compile", spec, "--mbs", 2, "--gbs", 4, "--dtype", "bf16", "--target",
                 "cuda:sm_90", "-o", self.bundle)
        self.program = os.path.join(self.bundle, "programs", "stage0")
        with open(self.program, "rb") as file:
            self.image = file.read()
        self.texts = [found for found in TEXT.finditer(self.image) if CALLED.search(found[0])]
        self.expected = self.run(self.image)

    def mutant(self, text, *words):
        """The text changed, and what mutate_text says of the change."""
        done = subprocess.run([self.mutate, *words], input=text, capture_output=True, check=True)
        return done.stdout, done.stderr.decode().split("\n")

    def with_text(self, place, text):
        """The program with a text of the same length and lines: blanks behind it, or comments
        left out."""
        length = place.end() - place.start()
        text = text.rstrip(b"\n")
        while len(text) > length and (comment := re.search(rb"\t?//[^\n]*", text)):
            text = text[:comment.start()] + text[comment.end():]
        if len(text) > length:
            return None
        return self.image[:place.start()] + text.ljust(length) + self.image[place.end():]

    def run(self, image, trace=None):
        """How it ended, and the bits of all that came out. `trace`: of a kernel, a line and a
        file, what the stand-in is to write."""
        with open(self.program, "wb") as file:
            file.write(image)
        digests_of.sign(self.bundle)
        log = os.path.join(self.folder, "log")
        command = [self.mtc.program, "run", self.bundle, "--quiet", "--data", self.data,
                   "--data-type", "u8", "--steps", str(STEPS), "--warmup", "1", "--log", log,
                   "--dump", "grads", self.folder, "--dump", "params", self.folder]
        environment = dict(self.environment)
        if trace:
            # Addresses are values, too: both runs are to have the same ones.
            command = ["setarch", "-R", *command]
            environment.update(zip(("MTC_STANDIN_TRACE_KERNEL", "MTC_STANDIN_TRACE_LINE",
                                    "MTC_STANDIN_TRACE"), trace))
        returncode, errors = finished(command, environment)
        if returncode is None:
            return "does not end", None
        if returncode or "stand-in" in errors:
            kind = re.search(r"cuda stand-in: ([^:]*)", errors)
            kind = re.sub(r"^in operation .*", "a fault", kind[1]) if kind else "nothing said"
            return f"exit code {returncode}, {kind}", None
        return "ran", ([(row["loss"], row["grad_norm"]) for row in read_log(log)],
                       [safetensors.digest(safetensors.read(os.path.join(
                           self.folder, f"{what}.safetensors"))) for what in ("grads", "params")])

    def judge(self, draw):
        """Of a random mutant: its outcome and its words; none if there was nothing to change."""
        place = draw.choice(self.texts)
        text, said = self.mutant(place[0], str(draw.randrange(2 ** 31)))
        image = self.with_text(place, text)
        if not said[0] or image is None:
            return None, ""
        line = int(said[1])
        words = " -> ".join(each.split(b"\n")[line].decode().strip() for each in (place[0], text))
        if said[2] == "1":
            return f"{EQUAL}: operands whose order does not matter", words
        ended, bits = self.run(image)
        if ended != "ran":
            return ended, words
        if bits != self.expected[1]:
            return "other numbers", words
        rule = self.rule(place, text, said[0], line)
        return f"{EQUAL}: {rule}" if rule else OTHER_REASON, words

    def rule(self, place, text, kind, line):
        """By which a text has the bits of the one at `place`, whose line it changes."""
        before = place[0].split(b"\n")[:line]
        kernel = re.findall(rb"\.entry (\w+)\(", b"\n".join(before))[-1].decode()
        files = [os.path.join(self.folder, name) for name in ("text", "mutant", "first", "second")]
        for name, each, trace in zip(files, (place[0], text), files[2:]):
            with open(name, "wb") as file:
                file.write(each)
            if os.path.exists(trace):
                os.remove(trace)
            self.run(self.with_text(place, each), (kernel, str(line + 1), trace))
        words = ["rule", kind, str(line), *files]
        done = subprocess.run([self.mutate, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()


def finished(command, environment):
    """The exit code, none if it takes too long, and what it said. Seconds in which this process
    was stopped do not count."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        for _ in range(PATIENCE):
            try:
                errors = process.communicate(timeout=1)[1]
                return process.returncode, errors
            except subprocess.TimeoutExpired:
                continue
        process.kill()
        return None, ""


def logged(path):
    """Outcomes of a campaign that began before, by the number of the mutant."""
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.endswith("\n")]
    return {int(row[0]): row[1] for row in rows}


def is_whole(text):
    """Whether it is a text that lies beside the sources, or begins as LLVM begins one: what lies in front
    of it in the program may look like a line of it."""
    sources = os.path.join(HERE, "..", "..", "..", "runtime", "cuda", "*", "ptx", "*.ptx")
    return text in map(content, glob.glob(sources)) or text.startswith(b"//\n// Generated by LLVM NVPTX Back-End\n")


def content(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    for name in ("folder", "stand_ins", "mutate"):
        parser.add_argument(name)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", help="a file with a line for each mutant")
    options = parser.parse_args()
    report, known = Report(), logged(options.log)
    with tempfile.TemporaryDirectory() as folder:
        training = Training(Mtc(), options.stand_ins, options.mutate, folder)
        report.expect(training.expected[0] == "ran" and len(training.texts) > 2,
                      f"expected a program that trains, with kernels, the norm and attention, "
                      f"found {training.expected[0]} and {len(training.texts)} texts")
        report.expect(all(is_whole(text[0]) for text in training.texts),
                      "expected texts from their first lines on, by which traces count")
        for text in training.texts:
            report.expect(training.run(training.with_text(text, text[0])) == training.expected,
                          "expected the same bits with a text in its own place")
        for number in range(options.mutants):
            if number in known:
                continue
            draw, outcome = random.Random(f"{options.seed} {number}"), None
            while outcome is None:
                outcome, words = training.judge(draw)
            known[number] = outcome
            if outcome == OTHER_REASON:
                print(f"{outcome}: {words}", flush=True)
            if options.log:
                with open(options.log, "a") as file:
                    file.write(f"{number}\t{outcome}\t{words}\n")
    outcomes = collections.Counter(known[number] for number in range(options.mutants))
    noticed = sum(count for outcome, count in outcomes.items() if not outcome.startswith(EQUAL))
    report.expect(noticed * 2 > options.mutants, f"expected half of {options.mutants} to be "
                  f"noticed and more, found {noticed}")
    for outcome, count in sorted(outcomes.items()):
        print(f"{count} {outcome}")
    return report.finish(f"{options.mutants} mutants, {noticed} noticed")


if __name__ == "__main__":
    sys.exit(main())
