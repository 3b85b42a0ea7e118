#!/usr/bin/env python3
"""How long `mtc compile` takes for large layouts, and how much memory.

    compile.py BIN_DIR [--runs 3] [--only TEXT] [--parts]

Compiles layouts to programs, the ten of SC21 as published among them, and prints for
each the median wall-clock seconds, the processor seconds of that run, the largest
resident memory of all runs, and the goal, if it has one. Memory is that of mtc and of all its children (compiler driver, linker) together,
read every few milliseconds; pages that two of them share count twice. --parts also
stops each compilation before and behind verify-plan, to say where the time goes.
Standard library only, Linux; not a test.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                      "models")
PAUSE = 0.01  # seconds between two looks at the memory
GIB = 1 << 30


@dataclass(frozen=True)
class Case:
    name: str
    spec: str
    strategy: str
    options: tuple = ()
    seconds: float = None  # the goal
    memory: float = None   # GiB

    def command(self, mtc):
        return [mtc, "compile", os.path.join(MODELS, "specs", self.spec + ".toml"),
                *self.strategy_options(), *self.options]

    def strategy_options(self):
        if not self.strategy:
            return []
        return ["--strategy", os.path.join(MODELS, "strategies", self.strategy + ".toml")]


def published(size, mesh, *goals):
    """A row of SC21's table 1."""
    name = "sc21-" + size
    return Case(f"{name}, {mesh}", name, name, (), *goals)


CASES = [
    Case("gpt2-124m, 8 ranks: tp 2, pp 2, dp 2", "gpt2-124m", "tp2-pp2-dp2", (), 3),
    Case("megatron-8.3b, 4096 ranks: tp 8, pp 8, dp 64", "megatron-8.3b",
         "megatron-8.3b", ("--pp", "8", "--mbs", "1"), 1, 2),
    published("1.7b", "32 ranks: tp 1, dp 32"),
    published("3.6b", "64 ranks: tp 2, dp 32"),
    published("7.5b", "128 ranks: tp 4, dp 32"),
    published("18.4b", "256 ranks: tp 8, dp 32"),
    published("39.1b", "512 ranks: tp 8, pp 2, dp 32"),
    published("76.1b", "1024 ranks: tp 8, pp 4, dp 32"),
    published("145.6b", "1536 ranks: tp 8, pp 8, dp 24"),
    published("310.1b", "1920 ranks: tp 8, pp 16, dp 15"),
    published("529.6b", "2520 ranks: tp 8, pp 35, dp 9"),
    published("1008b", "3072 ranks: tp 8, pp 64, dp 6", 3, 1),
    Case("gpt2-nano, 100,000 microbatches, 1 stage", "gpt2-nano", "",
         ("--gbs", "100000"), 5, 1),
    Case("gpt2-nano, 100,000 microbatches, 2 stages", "gpt2-nano", "",
         ("--gbs", "100000", "--pp", "2"), 5, 1),
]


@dataclass(frozen=True)
class Measured:
    seconds: float
    processor: float
    memory: int  # bytes


def processes():
    """Parent and resident bytes of every process that can be read."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                # The name of a program, in parentheses, may contain anything.
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        found[int(name)] = int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return found


def resident(root):
    """Bytes of a process and all its descendants."""
    table = processes()
    children = {}
    for process, (parent, _) in table.items():
        children.setdefault(parent, []).append(process)
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += table.get(process, (0, 0))[1]
        waiting += children.get(process, [])
    return total


def run(command):
    """Runs to the end; subprocess.CalledProcessError if that is not 0."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak, done = 0, threading.Event()

    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, resident(process.pid))
            done.wait(PAUSE)

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    done.set()
    watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    # The kernel's peak is exact, but that of the largest process only.
    return Measured(seconds, usage.ru_utime + usage.ru_stime,
                    max(peak, usage.ru_maxrss * 1024))


def measure(mtc, case, runs, folder, *stop):
    results = [run([*case.command(mtc), *stop, "-o", os.path.join(folder, "out")])
               for _ in range(runs)]
    middle = sorted(results, key=lambda r: r.seconds)[(runs - 1) // 2]
    return Measured(statistics.median(r.seconds for r in results), middle.processor,
                    max(r.memory for r in results))


def show(name, measured, goal_seconds="", goal_memory="", verdict=""):
    print(f"{name:<48} {measured.seconds:>7.2f} {measured.processor:>7.2f} "
          f"{measured.memory / GIB:>7.2f} {goal_seconds:>7} {goal_memory:>7}  {verdict}",
          flush=True)


def measure_case(mtc, case, options):
    with tempfile.TemporaryDirectory() as folder:
        if options.parts:
            for phase in ("plan-memory", "verify-plan"):
                show(f"  up to {phase}", measure(mtc, case, options.runs, folder,
                                                 f"--compile-to={phase}"))
    with tempfile.TemporaryDirectory() as folder:
        whole = measure(mtc, case, options.runs, folder)
    if case.seconds is None:
        show(case.name, whole)
        return
    held = (whole.seconds <= case.seconds
            and (case.memory is None or whole.memory <= case.memory * GIB))
    show(case.name, whole, f"{case.seconds:g}",
         "" if case.memory is None else f"{case.memory:g}",
         "holds" if held else "missed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin", help="the folder of mtc in a build")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="layouts whose name has this text")
    parser.add_argument("--parts", action="store_true")
    options = parser.parse_args()
    print(f"{'':<48} {'wall s':>7} {'cpu s':>7} {'GiB':>7} {'goal s':>7} {'GiB':>7}")
    for case in CASES:
        if options.only in case.name:
            measure_case(os.path.join(options.bin, "mtc"), case, options)


if __name__ == "__main__":
    main()
