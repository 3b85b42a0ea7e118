#!/usr/bin/env python3
"""Checkpoints while a process is killed, files cannot be written, or the power fails.

usage: test_checkpoints.py BIN_DIR LIBRARY [--every N] [--parts kills errors power fsyncs]
                           [--async-save]

Two ranks train four steps, save behind each, and keep two checkpoints. LIBRARY
(file_faults.cpp) numbers all that they do to files.

  kills   SIGKILL in place of call N, of threads, of the launcher and of each rank
  errors  EIO, ENOSPC or a short write at call N, at it alone and from it on
  power   what disks may hold behind call N (power_loss.py)
  fsyncs  the same without one fsync: the states must tell that it is missing

With --async-save they are written beside training. For every N (--every: each so manieth). Whatever happened, all that `mtc checkpoint verify`
calls whole has the bits of a run that was left alone, by a reader of its own; nothing that
was committed is lost; a run that resumes ends with those bits. A run that cannot write goes
on training, with the same numbers.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))

import checkpoints
import power_loss
from run_layout import Mtc, Report, read_log
from small_spec import small_spec

STEPS, KEEP = 4, 2
SIZES = {"name": "small", "vocab": 16, "padded": 16, "layers": 1, "hidden": 8, "heads": 2,
         "ffn": 8, "longest": 8, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
WRITE_FAILED = 18


class Faults:
    def __init__(self, mtc, library, report, folder, extra):
        self.mtc, self.library, self.report, self.folder = mtc, library, report, folder
        self.extra = extra
        self.cases = 0
        with open(self.path("spec.toml"), "w") as file:
            file.write(small_spec(tied=True, **SIZES))
        with open(self.path("data"), "wb") as file:
            file.write(bytes((7 * i + i // 5) % 16 for i in range(4000)))
        mtc.call("compile", self.path("spec.toml"), "--tp", 2, "--gbs", 4, "--mbs", 2, "-o",
                 self.path("bundle"))
        alone = self.path("alone")
        self.train(alone, ["--keep", STEPS], {})
        self.expected = {step: checkpoints.tensors(checkpoints.of_step(alone, step))
                         for step in range(1, STEPS + 1)}
        self.numbers = self.logged()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def train(self, folder, options, variables, comm="threads"):
        """The exit code and what was said."""
        log = self.path("log")
        if os.path.exists(log):
            os.remove(log)
        command = [self.mtc.program, "run", self.path("bundle"), "--data", self.path("data"),
                   "--data-type", "u8", "--steps", STEPS, "--checkpoints", folder,
                   "--save-interval", 1, "--quiet", "--comm", comm, "--log", log, *self.extra, *options]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                              timeout=60, env={**os.environ, **variables})
        return done.returncode, done.stderr.strip()

    def logged(self):
        if not os.path.exists(self.path("log")):
            return None
        return [(line["step"], line["loss"], line["grad_norm"])
                for line in read_log(self.path("log"))]

    def faulty(self, fault, comm="threads", rank=None, onward=False):
        """A run in a new folder; its exit code, what it said, what it did to files."""
        base, log = self.path("disk"), self.path("ops")
        shutil.rmtree(base, ignore_errors=True)
        for name in (log, log + ".data"):
            if os.path.exists(name):
                os.remove(name)
        os.mkdir(base)
        variables = {"LD_PRELOAD": self.library, "MTC_FAULT_ROOT": base,
                     "MTC_FAULT_LOG": log, **({"MTC_FAULT": fault} if fault else {}),
                     **({"MTC_FAULT_FROM": "1"} if onward else {}),
                     **({"MTC_FAULT_RANK": rank} if rank is not None else {})}
        code, said = self.train(os.path.join(base, "ck"), ["--keep", KEEP], variables, comm)
        ops = power_loss.read_log(log) if os.path.exists(log) else []
        return code, said, ops

    def whole(self, folder):
        """Steps that mtc calls whole; all of them have the bits that they must have."""
        if not os.path.isdir(folder) or not checkpoints.steps(folder):
            return []
        done = subprocess.run([self.mtc.program, "checkpoint", "verify", folder, "--json"],
                              capture_output=True, text=True, timeout=60)
        steps = [each["step"] for each in json.loads(done.stdout) if each["whole"]]
        for step in steps:
            if checkpoints.tensors(checkpoints.of_step(folder, step)) != self.expected[step]:
                raise ValueError(f"step {step} is called whole and has other bits")
        return steps

    def problem(self, folder, committed):
        """What is wrong with a folder; empty: nothing."""
        try:
            steps = self.whole(folder)
        except (ValueError, KeyError) as failure:
            return str(failure)
        if committed and (not steps or steps[-1] < committed[-1]):
            return f"step {committed[-1]} was committed, and {steps or 'none'} are whole"
        return ""

    def check(self, name, committed, resume=True):
        self.cases += 1
        folder = self.path("disk", "ck")
        problem = self.problem(folder, committed)
        self.report.expect(not problem, f"{name}: {problem}")
        if not resume or problem:
            return
        code, said = self.train(folder, ["--resume", "--keep", KEEP], {})
        self.report.expect(code == 0, f"{name}: resuming: {code}, {said}")
        found = self.whole(folder)
        self.report.expect(STEPS in found, f"{name}: resumed, and whole are {found}")

    def kills(self, every):
        for comm, rank in (("threads", None), ("shm", ""), ("shm", "0"), ("shm", "1")):
            count = max((op.number for op in self.faulty("", comm, rank)[2]), default=0)
            self.report.expect(count > 3, f"{comm} {rank}: expected calls, found {count}")
            for k in range(1, count + 1, every):
                code, said, ops = self.faulty(f"kill@{k}", comm, rank)
                name = f"killed at call {k} of {comm} {rank or ''}"
                self.report.expect(code not in (0, 1), f"{name}: ended with {code}: {said}")
                self.check(name, committed_by(ops))

    def errors(self, every):
        count = max(op.number for op in self.faulty("")[2])
        for k in range(1, count + 1, every):
            for fault in ("EIO", "ENOSPC", "short"):
                for onward in (False, True):
                    code, said, ops = self.faulty(f"{fault}@{k}", onward=onward)
                    name = f"{fault} {'from' if onward else 'at'} call {k}"
                    found = self.logged()
                    self.report.expect(
                        code == 0 or code == WRITE_FAILED and said,
                        f"{name}: expected to go on or to end with {WRITE_FAILED}, found "
                        f"{code}: {said}")
                    self.report.expect(
                        found == self.numbers or found is None and code != 0,
                        f"{name}: expected the numbers of the run that could write, found "
                        f"{found}")
                    self.check(name, committed_by(ops), resume=not onward or k % 3 == 0)

    def power(self, every):
        ops = self.faulty("")[2]
        disk = power_loss.Disk(self.path("disk"))
        for number, op in enumerate(ops):
            disk.apply(op)
            if number % every and op.name not in ("fsync", "rename"):
                continue
            self.lose_power(disk, committed_by(ops[:number + 1]), f"power fails behind call "
                            f"{op.number}, {op.name}", every)

    def lose_power(self, disk, committed, name, every):
        """Reports what is wrong with states; without a name, whether one is wrong."""
        for number, choices in enumerate(disk.states()):
            if number > 1 and number % every:
                continue
            self.cases += 1
            folder = self.path("after")
            shutil.rmtree(folder, ignore_errors=True)
            disk.write(choices, folder)
            problem = self.problem(os.path.join(folder, "ck"), committed)
            if name:
                self.report.expect(not problem, f"{name}, state {number}: {problem}")
            elif problem:
                return True
        return False

    def fsyncs(self, every):
        """Of the second save, beside which the first one is; a third of them, the first and
        the last among them, unless all cases are asked for."""
        ops = self.faulty("")[2]
        ends = [i for i, op in enumerate(ops) if committing(op)]
        end, folder = ends[1] + 2, "/" + os.path.basename(ops[ends[1]].other) + "."
        found, missed = [], []
        # Written beside training, it may begin before the first one is whole.
        syncs = [i for i in range(end) if ops[i].name == "fsync" and
                 (folder in ops[i].path or i > ends[1])]
        # Two files of each of two ranks, the manifest, the folder and the one around it.
        self.report.expect(len(syncs) >= 7, f"expected 7 fsyncs, found {len(syncs)}")
        for i in syncs if every == 1 else syncs[::3]:
            disk, wrong = power_loss.Disk(self.path("disk")), False
            for number, op in enumerate(ops[:end]):
                if number != i:
                    disk.apply(op)
                if number in (end - 2, end - 1):
                    wrong = wrong or self.lose_power(disk, committed_by(ops[:number + 1]),
                                                     "", 1)
            (found if wrong else missed).append(ops[i].path)
        self.report.expect(not missed, f"nothing tells that these lack: {missed}")
        print(f"{len(found)} fsyncs are missed where they lack", flush=True)


def committing(op):
    return op.name == "rename" and "step-" in op.other and "." not in op.other.split("/")[-1]


def committed_by(ops):
    """Steps whose folder has its name, and whose name was fsynced."""
    steps, named = [], None
    for op in ops:
        if committing(op):
            named = int(op.other.split("step-")[-1])
        elif op.name == "fsync" and named and op.path.endswith("/ck"):
            steps.append(named)
            named = None
    return steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("library")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--parts", nargs="+", default=["kills", "errors", "power", "fsyncs"])
    parser.add_argument("--async-save", action="store_true")
    options = parser.parse_args()
    report, start = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(Mtc(), os.path.abspath(options.library), report, folder,
                        ["--async-save"] if options.async_save else [])
        for part in options.parts:
            before, begin = faults.cases, time.monotonic()
            getattr(faults, part)(options.every)
            print(f"{part}: {faults.cases - before} cases, {time.monotonic() - begin:.0f} s",
                  flush=True)
    return report.finish(f"{faults.cases} cases, in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
