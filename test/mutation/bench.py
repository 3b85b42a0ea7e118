"""Compiles and runs plans and edits of their IR, and says how each ended."""

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import one_stream
from one_stream import Stuck
from plans import SEQ, VOCAB

import safetensors
from run_layout import without_locations

STEPS = 3
EOD = 3  # one token of VOCAB: a sample in four has an end
# Inputs of a program that knows documents: an edit can make one of any other.
OF_DOCUMENTS = re.compile(r"\b(document_starts|loss_weights|gradient_weights)\b")
# mtc's exit codes (`mtc help exit-codes`): IR that is not taken, and a run whose loss or
# norm is not finite.
REJECTED = (4,)
NOT_FINITE = 15
CRASHED = "crashed"


# On a loaded machine everything takes longer: limits are times this.
patience = 1.0


def call(command, limit):
    limit *= patience
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit,
                              errors="replace")
    except subprocess.TimeoutExpired as expired:
        raise Stuck(f"{limit} s passed") from expired


def steps(plan):
    """Options of a run that begins each entry of the plan behind each other one that may be
    before it: lengths go up and down, a batch only grows (from half, as Megatron-LM's ramp)."""
    options = ["--steps", str(STEPS + (len(shapes(plan)) > 1))]
    if len(plan.lengths) > 1:
        long, short = plan.lengths
        options += ["--seq", f"{short}:1, {long}:1, {short}:1, {long}"]
    if len(plan.batches) > 1:
        most, few = plan.batches
        options += ["--rampup-batch-size", str(few), str(most - few), str(most)]
    return options


def shapes(plan):
    """Options for an evaluation of each shape that steps may have."""
    return [["--seq", str(length), "--global-batch-size", str(batch)]
            for length in plan.lengths for batch in plan.batches]


def write_tokens(path):
    generator = random.Random(7)
    with open(path, "wb") as file:
        file.write(bytes(generator.randrange(VOCAB) for _ in range(200 * SEQ + 1)))


class Bench:
    """A plan with its saved IR, in a folder of its own."""

    def __init__(self, program, plan, folder):
        self.program, self.plan, self.folder = program, plan, folder
        self.expected = None  # bits of the plan as it is
        os.makedirs(folder, exist_ok=True)
        with open(self.path("spec.toml"), "w") as file:
            file.write(plan.spec())
        write_tokens(self.path("tokens.bin"))
        self.save_ir()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def save_ir(self):
        done = call([self.program, "compile", self.path("spec.toml"), *self.plan.options(),
                     "--save-ir", self.path("ir"), "--compile-to", "verify-plan", "-o",
                     self.path("verified.mlir")], 60)
        if done.returncode:
            raise RuntimeError(f"{self.plan.name} does not compile: {done.stderr}")
        self.ir = {}
        for file in sorted(os.listdir(self.path("ir"))):
            with open(self.path("ir", file)) as text:
                self.ir[file[3:].removesuffix(".mlir")] = without_locations(text.read())

    def control(self):
        """The bits of the plan as it is, in every order of its streams."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            ended, bits = self.compile_and_run(self.path("verified.mlir"), folder)
        if ended != "ran":
            raise RuntimeError(f"{self.plan.name} does not run: {ended} {bits}")
        return bits

    def judge(self, text, phase):
        """Compiles `text` as the result of `phase`, and runs it: how it ended ("rejected",
        "crashed", "same", "stopped", "not finite" or "ran") and the message or the bits."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            file = os.path.join(folder, "edited.mlir")
            with open(file, "w") as out:
                out.write(text)
            try:
                return self.judge_file(file, phase, folder)
            except Stuck as stuck:
                return "stuck", str(stuck)

    def judge_file(self, file, phase, folder):
        planned = os.path.join(folder, "planned.mlir")
        done = call([self.program, "compile", file, "--from", phase, "--compile-to",
                     "verify-plan", "-o", planned], 60)
        if done.returncode in REJECTED:
            return "rejected", done.stderr
        if done.returncode:
            return CRASHED, f"exit code {done.returncode}: {done.stderr}"
        with open(planned) as text:
            if without_locations(text.read()) == self.ir["verify-plan"]:
                return "same", ""  # the very same plan: it needs no run
        return self.compile_and_run(planned, folder)

    def compile_and_run(self, planned, folder):
        """Of a plan with two streams, every order in which a device may run it: how the
        first one ended that does not give the bits of the plan as it was."""
        if self.plan.streams == 1:
            return self.run_file(planned, folder, "bundle")
        wanted = ("ran", self.expected) if self.expected else None
        with open(planned) as text:
            texts = one_stream.orders(text.read())
        for name, text in texts.items():
            file = os.path.join(folder, "ordered.mlir")
            with open(file, "w") as out:
                out.write(text)
            found = self.run_file(file, folder, name, "--no-verify")
            wanted = wanted or found
            if found[0] != "ran" or found != wanted:
                return found
        return wanted

    def run_file(self, file, folder, name, *options):
        bundle = os.path.join(folder, name)
        done = call([self.program, "compile", file, "--jobs", "1", *options, "-o", bundle], 60)
        if done.returncode in REJECTED:
            return "rejected", done.stderr
        if done.returncode:
            return CRASHED, f"exit code {done.returncode}: {done.stderr}"
        with open(file) as text:
            found = self.run(bundle, folder, OF_DOCUMENTS.search(text.read()))
        shutil.rmtree(bundle)
        return found

    def run(self, bundle, folder, has_documents):
        common = [self.program, "run", bundle, "--data", self.path("tokens.bin"),
                  "--data-type", "u8", "--quiet", "--comm", "threads", "--strict",
                  *(("--eod", str(EOD)) if has_documents else ())]
        log, out = os.path.join(folder, "log.jsonl"), os.path.join(folder, "out")
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        train = call([*common, *steps(self.plan), "--warmup", "1", "--lr", "1e-2", "--log",
                      log, "--dump", "grads", out, "--dump", "params", out], 20)
        if train.returncode:
            return self.failed(train)
        said = []
        for number, shape in enumerate(shapes(self.plan)):
            evaluated = call([*common, "--eval", "1", *shape, "--dump", "logits",
                              os.path.join(out, str(number))], 20)
            if evaluated.returncode:
                return self.failed(evaluated)
            said.append(evaluated.stdout)
        return "ran", self.bits(log, out, said)

    @staticmethod
    def failed(done):
        """How a run ended that failed."""
        code = done.returncode
        ended = ("not finite" if code == NOT_FINITE
                 else CRASHED if code < 0 or code >= 128 else "stopped")
        return ended, f"exit code {code}: {done.stderr}"

    @staticmethod
    def bits(log, out, evaluated):
        """Everything that a run says, to compare: by what it is."""
        with open(log) as file:
            steps = [row for row in map(json.loads, file) if "header" not in row]
        found = {"losses": [s["loss"] for s in steps],
                 "norms": [s["grad_norm"] for s in steps],
                 "eval": [json.loads(text)["eval_loss"] for text in evaluated]}
        for path in sorted(Path(out).rglob("*.safetensors")):
            found[str(path.relative_to(out))] = safetensors.digest(safetensors.read(path))
        return found
