#!/usr/bin/env python3
"""Runs that end before their last step leave the parameters of one step of all ranks.

Usage: test_ends.py BIN

Each end of a run is compared with a run of so many steps that was left alone: the
files of parameters are equal to the byte, the step in their metadata included.
"""

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

from run_layout import Mtc, Report, read_log
from tiny_model import SPEC, tokens

TOKENS = tokens(40000)
# Of "pipe", the ranks between the ends read no data: they are ahead of those that do.
LAYOUTS = {"one": [], "eight": ["--tp", 2, "--pp", 2, "--dp", 2, "--zero", 1],
           "pipe": ["--tp", 2, "--pp", 4]}
# The rate of a step must not depend on how many there are to come.
RECIPE = ["--data-type", "u8", "--decay", "constant", "--order", "sequential"]
INTERRUPTED, REJECTED, NOT_FINITE = 11, 3, 15


def metadata(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))["__metadata__"]


class Ends:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        spec = self.path("tiny.toml")
        with open(spec, "w") as file:
            file.write(SPEC.replace("layers = 2", "layers = 4"))
        self.write_tokens(TOKENS)
        for name, options in LAYOUTS.items():
            mtc.call("compile", spec, "--gbs", 4, *options, "-o", self.path(name))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write_tokens(self, tokens):
        with open(self.path("data"), "wb") as file:
            file.write(tokens)

    def command(self, name, steps, save, *options):
        return ["run", self.path(name), "--data", self.path("data"), "--steps", steps,
                "--quiet", "--save", self.path(save), *RECIPE, *options]

    def until(self, count, log, process):
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            if os.path.exists(log) and len(open(log).readlines()) > count:
                return
            time.sleep(0.005)

    def early(self, what, name, action, code, says, options=()):
        """Ends a long run by `action` behind its second step."""
        self.write_tokens(TOKENS)
        log = self.path(f"{what}.jsonl")
        command = self.command(name, 10 ** 7, what, "--log", log, *options)
        process = subprocess.Popen([self.mtc.program, *map(str, command)],
                                   stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        self.until(2, log, process)
        action(process)
        error = process.communicate(timeout=60)[1].splitlines()[-1:]
        error = error[0] if error else ""
        self.report.expect(process.returncode == code, f"{what}: expected exit code "
                           f"{code}, found {process.returncode}: {error}")
        self.compare(what, name, read_log(log), says, error, options)

    def compare(self, what, name, log, says, error, options):
        done = [line for line in log if "not_finite" not in line]
        step = len(done)
        for text in (*says, f"step {step}"):
            self.report.expect(text in error, f"{what}: expected {text!r} in {error!r}")
        self.write_tokens(TOKENS)
        self.mtc.call(*self.command(name, step, "again", *options))
        with open(self.path(what), "rb") as a, open(self.path("again"), "rb") as b:
            self.report.expect(a.read() == b.read(), f"{what}: expected the parameters "
                               f"of {step} steps of a run that was left alone")
        self.report.expect(metadata(self.path(what)).get("step") == str(step),
                           f"{what}: expected step {step} in the metadata, found "
                           f"{metadata(self.path(what))}")

    def cut(self, _):
        # The windows of the steps to come are gone, and with them what was mapped.
        os.truncate(self.path("data"), 0)


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        ends = Ends(Mtc(), report, folder)
        stopped = ["stopped by a signal", "has the parameters of step"]
        threads = ("--comm", "threads")
        launcher = lambda process: process.send_signal(signal.SIGTERM)
        everybody = lambda process: os.killpg(process.pid, signal.SIGINT)
        ends.early("stopped", "eight", launcher, INTERRUPTED, stopped)
        ends.early("stopped-all", "eight", everybody, INTERRUPTED, stopped)
        ends.early("stopped-threads", "eight", launcher, INTERRUPTED, stopped, threads)
        cut = ["data", "had 40000 bytes", "has the parameters of step"]
        ends.early("cut", "eight", ends.cut, REJECTED, cut)
        ends.early("cut-threads", "eight", ends.cut, REJECTED, cut, threads)
        ends.early("cut-one", "one", ends.cut, REJECTED, cut)
        ends.early("cut-pipe", "pipe", ends.cut, REJECTED, cut)
        ends.early("cut-pipe-threads", "pipe", ends.cut, REJECTED, cut, threads)
        ends.early("stopped-pipe", "pipe", everybody, INTERRUPTED, stopped)
        wild = ("--lr", 1e5, "--min-lr", 1e5, "--clip", 0)
        nothing = lambda process: None
        wrong = ["not finite", "has the parameters of step"]
        for name in LAYOUTS:
            ends.early(f"wild-{name}", name, nothing, NOT_FINITE, wrong, wild)
        ends.early("wild-threads", "eight", nothing, NOT_FINITE, wrong, (*wild, *threads))
    return report.finish("13 early ends of runs")


if __name__ == "__main__":
    sys.exit(main())
