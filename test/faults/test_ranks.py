#!/usr/bin/env python3
"""Ranks that die or stop, signals at random times, and runs that start again.

usage: test_ranks.py BIN_DIR [--comm shm|mpi] [--seed N] [--deaths N] [--stops N] [--terms N]
                     [--restarts N] [--replaced N]

Tiny models in 2, 4 and 8 processes, over shm or mpi, at times by seed:

  deaths    SIGKILL of one rank: `mtc run` ends within 2 s with exit code 12 and its name, and
            leaves no process, nothing in /dev/shm and no file but log and records; `mtc flight`
            blames it
  stops     SIGSTOP of one rank: found by --timeout and a second more, exit code 13, its name,
            and `mtc flight` blames it
  terms     SIGTERM to `mtc run`, to one rank or to all of them, from the start on: exit code 9
            and a whole checkpoint, or 11 while nothing was trained; no other checkpoint is
            damaged, and a run that resumes goes on
  restarts  SIGKILL of ranks of a run with --max-restarts, each time once a checkpoint was
            written: the files and the log of a run that was left alone, to the bit
  replaced  a bundle of another model takes the bundle's place while a run with
            --max-restarts trains: behind the death of a rank it ends and names both plans

Prints times: median, the 99th of 100, and the longest.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))

import checkpoints
from layouts import Layout
from run_layout import OF_THE_MACHINE, Mtc, Report, read_log
from small_spec import small_spec

SIZES = {"name": "small", "vocab": 16, "padded": 16, "layers": 2, "hidden": 8, "heads": 2,
         "ffn": 8, "longest": 8, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
LAYOUTS = (Layout(tp=2), Layout(tp=2, pp=2), Layout(pp=2, dp=2, zero=1),
           Layout(tp=2, pp=2, dp=2, zero=1))
STOPPED_SAVED, INTERRUPTED, PEER_DIED, HANG = 9, 11, 12, 13
INPUT_REJECTED = 3
TIMEOUT = 2


def children(pid):
    """Processes that a process started, in order: its ranks."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return list(map(int, file.read().split()))
    except OSError:
        return []


def session(leader):
    """Processes that still belong to a run."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(name))
    return found


def segments():
    """Shared memory by names of ours: others may run beside this."""
    return {name for name in os.listdir("/dev/shm") if "mtc" in name}


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def unlike_numbers(line):
    return {key: value for key, value in line.items() if key not in OF_THE_MACHINE}


def steps_of(path):
    """What a log has of steps, but for times."""
    return [unlike_numbers(line) for line in read_log(path) if "step" in line]


class Ranks:
    def __init__(self, mtc, report, folder, seed, comm):
        self.mtc, self.report, self.folder, self.comm = mtc, report, folder, comm
        self.random = random.Random(seed)
        with open(self.path("spec.toml"), "w") as file:
            file.write(small_spec(tied=True, **SIZES))
        with open(self.path("other.toml"), "w") as file:
            file.write(small_spec(tied=True, **{**SIZES, "dropout": 0.5}))
        with open(self.path("data"), "wb") as file:
            file.write(bytes((7 * i + i // 5) % 16 for i in range(40000)))
        self.bundles = []
        for number, layout in enumerate(LAYOUTS):
            self.bundles.append((layout.ranks, self.path(f"bundle{number}")))
            mtc.call("compile", self.path("spec.toml"), *layout.options(), "-o",
                     self.bundles[-1][1])

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, bundle, steps, *options):
        shutil.rmtree(self.path("run"), ignore_errors=True)
        os.mkdir(self.path("run"))
        return self.again(bundle, steps, *options)

    def again(self, bundle, steps, *options):
        command = [self.mtc.program, "run", bundle, "--comm", self.comm, "--data",
                   self.path("data"), "--data-type", "u8", "--steps", steps, "--quiet",
                   "--log", self.path("run", "log"), *options]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def sharing(self):
        """Over MPI half of the runs share no memory; restarts would be slow so."""
        return self.random.choice(([], ["--mpi-inside-hosts"])) if self.comm == "mpi" else []

    def wait(self, process, condition):
        end = time.monotonic() + 60
        while process.poll() is None and not condition():
            if time.monotonic() > end:
                raise TimeoutError("a run did not get going")
            time.sleep(0.001)

    def trains(self, process, ranks):
        """Waits until all ranks are there and a step is done, and a while."""
        log = self.path("run", "log")
        self.wait(process, lambda: os.path.exists(log) and os.path.getsize(log)
                  and len(children(process.pid)) == ranks)
        time.sleep(self.random.random() * 0.2)

    def end(self, process):
        """What was said, and how long after this call it ended."""
        begin = time.monotonic()
        try:
            said = process.communicate(timeout=120)[1].strip()
        except subprocess.TimeoutExpired:
            process.kill()  # its ranks end with it
            said = process.communicate()[1].strip() + " (it did not end in 120 s)"
        return said, time.monotonic() - begin

    def expect_nothing_left(self, name, process, shm, files):
        self.report.expect(not session(process.pid), f"{name}: processes are left")
        self.report.expect(segments() == shm, f"{name}: /dev/shm has more")
        found = set(os.listdir(self.path("run")))
        self.report.expect(found <= files, f"{name}: left {found - files}")

    def blamed(self, name):
        done = self.mtc.call("flight", self.path("run", "flight"), "--json", check=False)
        self.report.expect(done.returncode == 0, f"{name}: mtc flight: {done.stderr}")
        return json.loads(done.stdout)["culprit"] if done.returncode == 0 else None

    def struck(self, number, code, *options):
        """One rank gets a signal while it trains; seconds until the run ended."""
        shm = segments()
        ranks, bundle = self.random.choice(self.bundles)
        process = self.start(bundle, 10 ** 7, "--flight", self.path("run", "flight"),
                             *self.sharing(), *options)
        self.trains(process, ranks)
        victim = self.random.randrange(ranks)
        kill(children(process.pid)[victim], number)
        said, seconds = self.end(process)
        name = f"{signal.Signals(number).name} of rank {victim} of {ranks}"
        last = said.splitlines()[-1] if said else ""
        self.report.expect(process.returncode == code and f"rank {victim}" in last,
                           f"{name}: expected exit code {code} and its name, found "
                           f"{process.returncode}: {said}")
        self.report.expect(last.count("`mtc flight") == 1,
                           f"{name}: expected where records are, once: {said}")
        self.expect_nothing_left(name, process, shm, {"log", "flight"})
        blamed = self.blamed(name)
        self.report.expect(blamed == victim, f"{name}: mtc flight blames rank {blamed}: {said}")
        return seconds

    def deaths(self, count):
        times = [self.struck(signal.SIGKILL, PEER_DIED) for _ in range(count)]
        self.report.expect(max(times) < 2, f"a death was told after {max(times):.2f} s")
        return times

    def stops(self, count):
        times = [self.struck(signal.SIGSTOP, HANG, "--timeout", TIMEOUT) for _ in range(count)]
        self.report.expect(max(times) < TIMEOUT + 1,
                           f"a stopped rank was found after {max(times):.2f} s")
        return times

    def terms(self, count):
        return [self.terminated(number) for number in range(count)]

    def terminated(self, number):
        shm = segments()
        ranks, bundle = self.random.choice(self.bundles)
        saved = self.path("run", "ck")
        options = ["--checkpoints", saved, "--save-interval", 3, "--keep", 2,
                   *self.random.choice(([], ["--async-save"])), *self.sharing()]
        process = self.start(bundle, 10 ** 7, *options)
        # Behind the start of mtc, which has no handler until it has read its options.
        self.wait(process, lambda: os.path.exists(saved + ".lock"))
        time.sleep(self.random.random() ** 2 * 0.8)
        to = self.random.choice(("mtc run", "a rank", "all"))
        pids = children(process.pid)
        chosen = {"mtc run": [process.pid], "a rank": pids and [self.random.choice(pids)],
                  "all": [process.pid, *pids]}[to]
        for pid in chosen or [process.pid]:
            kill(pid, signal.SIGTERM)
        said, seconds = self.end(process)
        name = f"SIGTERM {number} to {to} of {ranks}"
        whole = checkpoints.steps(saved) if os.path.isdir(saved) else []
        self.report.expect(process.returncode == STOPPED_SAVED and whole
                           or process.returncode == INTERRUPTED and not whole,
                           f"{name}: expected a checkpoint and exit code {STOPPED_SAVED}, or "
                           f"none and {INTERRUPTED}, found {whole}, {process.returncode}: {said}")
        self.expect_nothing_left(name, process, shm, {"log", "ck", "ck.lock"})
        if whole:
            done = self.mtc.call("checkpoint", "verify", saved, check=False)
            self.report.expect(done.returncode == 0, f"{name}: {done.stderr}")
            left = [each for each in os.listdir(saved) if "tmp" in each]
            self.report.expect(not left, f"{name}: left {left}")
        if whole and number % 8 == 0:
            process = self.again(bundle, whole[-1] + 1, *options, "--resume")
            said, _ = self.end(process)
            self.report.expect(process.returncode == 0, f"{name}: resuming: {said}")
        return seconds

    def restarts(self, count):
        return [self.restarted() for _ in range(count)]

    def restarted(self):
        """Killed once or twice; seconds of the run."""
        ranks, bundle = self.random.choice(self.bundles)
        steps, interval, saved = 200, 10, self.path("run", "ck")
        options = ["--checkpoints", saved, "--save-interval", interval,
                   *self.random.choice(([], ["--async-save"]))]
        process = self.start(bundle, steps, *options)
        said, _ = self.end(process)
        alone = self.path("alone")
        shutil.rmtree(alone, ignore_errors=True)
        shutil.move(self.path("run"), alone)
        begin = time.monotonic()
        kills = self.random.choice((1, 2))
        process = self.start(bundle, steps, *options, "--max-restarts", kills)
        seen = 0
        for _ in range(kills):
            self.wait(process, lambda: os.path.isdir(saved)
                      and max(checkpoints.steps(saved), default=0) > seen
                      and len(children(process.pid)) == ranks)
            time.sleep(self.random.random() * 0.05)
            pids = children(process.pid)
            if len(pids) == ranks:
                kill(self.random.choice(pids), signal.SIGKILL)
                # Until all have ended, one more checkpoint may be committed.
                self.wait(process, lambda: not set(pids) & set(children(process.pid)))
                seen = max(checkpoints.steps(saved))
        said, _ = self.end(process)
        name = f"{kills} kills of {ranks} ranks"
        self.report.expect(process.returncode == 0, f"{name}: {process.returncode}: {said}")
        self.report.expect("restart 1 of" in said, f"{name}: not started again: {said}")
        if process.returncode == 0:
            self.report.expect(steps_of(self.path("run", "log"))
                               == steps_of(os.path.join(alone, "log")),
                               f"{name}: the log has other lines")
            last = [checkpoints.tensors(checkpoints.of_step(os.path.join(each, "ck"), steps))
                    for each in (alone, self.path("run"))]
            self.report.expect(last[0] == last[1], f"{name}: other bits")
        return time.monotonic() - begin


    def replaced(self, count):
        return [self.with_another_bundle() for _ in range(count)]

    def with_another_bundle(self):
        """Seconds from the death of a rank to the end."""
        saved, bundle = self.path("run", "ck"), self.path("mine")
        ranks = 2

        def compile_as_mine(spec, layout):
            self.mtc.call("compile", self.path(spec), *layout.options(), "-o", bundle)
            with open(os.path.join(bundle, "manifest.json")) as file:
                return json.load(file)["plan_hash"]

        mine = compile_as_mine("spec.toml", Layout(tp=ranks))
        process = self.start(bundle, 10 ** 7, "--checkpoints", saved, "--save-interval", 3,
                             "--keep", 2, "--max-restarts", 3)
        self.wait(process, lambda: os.path.isdir(saved) and checkpoints.steps(saved)
                  and len(children(process.pid)) == ranks)
        # One of as many ranks, or of more, in other stages.
        other = compile_as_mine("other.toml", self.random.choice((Layout(tp=2),
                                                                  Layout(tp=2, pp=2))))
        kill(children(process.pid)[0], signal.SIGKILL)
        said, seconds = self.end(process)
        self.report.expect(process.returncode == INPUT_REJECTED
                           and f"expected plan {mine}, found {other}" in said,
                           "another bundle in its place: expected exit code "
                           f"{INPUT_REJECTED}, and why, found {process.returncode}: {said}")
        return seconds


def summary(times):
    times = sorted(times)
    return (f"median {times[len(times) // 2]:.3f} s, 99 of 100 {times[len(times) * 99 // 100]:.3f}"
            f" s, longest {times[-1]:.3f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--comm", choices=("shm", "mpi"), default="shm")
    parser.add_argument("--seed", type=int, default=1)
    parts = ("deaths", "stops", "terms", "restarts", "replaced")
    for part in parts:
        parser.add_argument("--" + part, type=int, default=0)
    options = parser.parse_args()
    report, start = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ranks = Ranks(Mtc(), report, folder, options.seed, options.comm)
        for part in parts:
            if count := getattr(options, part):
                print(f"{part}: {count}, {summary(getattr(ranks, part)(count))}", flush=True)
    return report.finish(f"in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
