"""Compiles and runs layouts with the `mtc` of the build."""

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys

from ranks_lock import one_at_a_time

# Ignored in the background of a script, which programs would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Failed(Exception):
    pass


def starts_ranks(arguments):
    """Several: one rank computes as a compilation does."""
    if arguments[0] != "run":
        return False
    try:
        with open(os.path.join(arguments[1], "manifest.json")) as file:
            mesh = json.load(file)["mesh"]  # and its order, a text, if that is another
            return math.prod(size for size in mesh.values() if isinstance(size, int)) > 1
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return True  # a damaged bundle, or whatever else is tested


class Mtc:
    """The command, from MTC_BIN_DIR (or the first argument of the test)."""

    def __init__(self):
        folder = sys.argv[1] if len(sys.argv) > 1 else os.environ["MTC_BIN_DIR"]
        self.program = os.path.join(folder, "mtc")

    def call(self, *arguments, timeout=120, check=True):
        command = [self.program, *map(str, arguments)]
        if arguments[0] == "compile":  # a pass that gives invalid IR is named
            command.append("--verify-each")
        with one_at_a_time() if starts_ranks(arguments) else contextlib.nullcontext():
            result = subprocess.run(command, capture_output=True, text=True,
                                    timeout=timeout)
        if check and result.returncode != 0:
            raise Failed(f"exit code {result.returncode} of "
                         f"{' '.join(command)}\n{result.stderr.strip()}")
        return result

    def schedules(self):
        """The names of the schedules that `mtc compile` trains with, one chunk a stage."""
        lines = self.call("help", "schedules").stdout.splitlines()
        return [line.split()[0] for line in lines
                if line.split()[1] == "train" and "cannot be compiled" not in line
                and "--chunks" not in line]

    def compile(self, spec, layout, bundle, options=(), jobs=2, batch=None):
        """With `jobs` threads: 1 for who compiles several bundles at a time."""
        shape = layout.options() if batch is None else layout.options(batch)
        self.call("compile", spec, *shape, *options, "--jobs", jobs, "-o", bundle)
        return bundle

    def run(self, bundle, recipe, folder, comm=("shm",), dumps=(), extra=()):
        """Trains; files go to `folder`. Returns the log, a list of steps."""
        os.makedirs(folder, exist_ok=True)
        log = os.path.join(folder, "log.jsonl")
        arguments = ["run", bundle, "--quiet", "--log", log, "--comm", *comm]
        for what in dumps:
            arguments += ["--dump", what, folder]
        self.call(*arguments, *recipe, *extra)
        return read_log(log)


# Keys of a step that say how fast it was, and when.
OF_THE_MACHINE = ("step_ms", "tokens_per_s", "tflops", "mfu", "resident_bytes", "time",
                  "times_ms")


def read_log(path):
    """The lines of a log, without those that begin a run."""
    with open(path) as file:
        return [row for row in map(json.loads, file) if "header" not in row]


def steps_so_far(path):
    """How many the log has, of a run that still writes it; 0 where there is none yet."""
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return sum(line.startswith('{"step"') and line.endswith("\n") for line in file)


def without_locations(text):
    """IR of --save-ir without the parts of the model beside its ops: what is edited or
    compared as text is what the ops are."""
    return re.sub(r' loc\((?:"[^"]*"|fused\[[^]]*\])\)', "", text)


def relative(expected, actual):
    return abs(expected - actual) / abs(expected)


class Report:
    """Prints sentences, counts failures."""

    def __init__(self):
        self.failures = []

    def expect(self, holds, sentence):
        if not holds:
            self.failures.append(sentence)
            print(f"FAILED: {sentence}", flush=True)
        return holds

    def expect_none(self, sentences):
        """Each sentence says what is wrong."""
        for sentence in sentences:
            self.expect(False, sentence)

    def finish(self, summary):
        """Exit code of the test."""
        for sentence in self.failures:
            print(f"failed: {sentence}")
        print(f"{summary}: "
              + (f"{len(self.failures)} expectations failed" if self.failures
                 else "all expectations hold"))
        return 1 if self.failures else 0
