"""The memory contract, at eight ranks over shm and over threads.

  * The arenas that each rank maps are, to the byte, the printed ones, and so is the
    workspace of kernels that run on two threads of a rank. The mappings
    of shm are files with names. Those of threads are anonymous: where the kernel
    keeps their names (CONFIG_ANON_VMA_NAME) they are summed by name; everywhere each
    range that the runtime maps and names (alloc_count.cpp notes it) must have the
    printed size and lie in anonymous memory of the stopped process. So are those of a
    process that is the only rank.
  * A run with a step to train has the pages of its arenas from the kernel at once, all of
    them and no others; one that only converts or evaluates has none.
  * After the first step the program allocates nothing; what the libraries of matrix
    products allocate for a moment is counted and printed.
  * A plan with an arena a page smaller is rejected when compiled or when started.

usage: test_memory.py BIN_DIR ALLOC_COUNT_LIBRARY
"""

import bisect
import contextlib
import json
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile

import corpus
from frozen_run import FrozenRun
from layouts import SINGLE, TP2_PP2_DP2
from run_layout import Failed, Mtc, Report

SPEC, LAYOUT, PAGE = "gpt2-nano", TP2_PP2_DP2, 4096
ARENAS = ("params", "grads", "optimizer", "activations", "workspace", "step", "packed")
KERNELS = "kernels"  # the workspace of kernels that run on several threads
INTERRUPTED = 11  # exit code


def printed_arenas(mtc, report, bundle):
    """Bytes by stage and arena; the report and the programs must agree."""
    with open(os.path.join(bundle, "report.json")) as file:
        stages = json.load(file)["stages"]
    printed = {}
    for stage in stages:
        memory = stage["memory"]
        printed[stage["stage"]] = {name: memory.get(name, 0)
                                   for name in (*ARENAS, KERNELS)}
        program = os.path.join(bundle, "programs", f"stage{stage['stage']}")
        descriptor = json.loads(mtc.call("inspect", program, "--json").stdout)
        report.expect(descriptor["arenas"] == [memory[name] for name in ARENAS],
                      f"stage {stage['stage']}: the program says arenas "
                      f"{descriptor['arenas']}, the report {memory}")
        report.expect(memory.get(KERNELS, 0) == descriptor["kernel_workspace"],
                      f"stage {stage['stage']}: the program says a workspace of "
                      f"{descriptor['kernel_workspace']} bytes, the report {memory}")
        report.expect(memory["total"] == sum(printed[stage["stage"]].values()),
                      f"stage {stage['stage']}: the printed total is not the sum")
    return printed


def check_mapped(mtc, report, bundle, recipe, folder):
    printed = printed_arenas(mtc, report, bundle)
    per_stage = LAYOUT.ranks // LAYOUT.pp
    run = FrozenRun(mtc, bundle, recipe, os.path.join(folder, "frozen.jsonl"),
                    LAYOUT.ranks)
    try:
        mapped = [run.arenas(rank) for rank in range(LAYOUT.ranks)]
    finally:
        code = run.end()
    report.expect(code == INTERRUPTED, f"expected exit code {INTERRUPTED} after "
                  f"SIGINT, found {code}")
    for rank, arenas in enumerate(mapped):
        # Its own, all of them; and arenas of peers, read in place: whole, and
        # not mapped twice.
        own = {(rank, name): 0 for name in ARENAS}
        for (owner, name), found in {**own, **arenas}.items():
            wanted = printed[owner // per_stage][name]
            report.expect(wanted % PAGE == 0 and found == wanted,
                          f"rank {rank} maps {found} bytes of {name} of rank "
                          f"{owner}, printed are {wanted}")
        print(f"rank {rank} maps {sum(arenas.get(key, 0) for key in own)} bytes of "
              f"its own, printed {sum(printed[rank // per_stage].values())}; "
              f"arenas of peers: {len(arenas) - len(own)}")


@contextlib.contextmanager
def preloaded(library, prefix):
    """Processes started inside have alloc_count.cpp, which writes to `prefix`.*"""
    os.environ["LD_PRELOAD"], os.environ["MTC_ALLOC_COUNT"] = library, prefix
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"], os.environ["MTC_ALLOC_COUNT"]


def named_ranges(path):
    """{(rank, arena): (begin, end)} of the anonymous memory that was named."""
    ranges = {}
    with open(path) as file:
        for line in file:
            base, named, mapped, name = line.rstrip("\n").split(" ", 3)
            found = re.fullmatch(r"mtc rank (\d+) (\w+)", name)
            if not found:
                continue
            key = int(found[1]), found[2]
            if named != mapped or key in ranges:
                raise Failed(f"expected one mapping named '{name}', whole, found "
                             f"{named} bytes named of {mapped} mapped at {base}")
            ranges[key] = int(base, 16), int(base, 16) + int(mapped)
    return ranges


def check_mapped_threads(mtc, report, bundle, recipe, library, folder):
    printed = printed_arenas(mtc, report, bundle)
    per_stage = LAYOUT.ranks // LAYOUT.pp
    prefix = os.path.join(folder, "threads")
    with preloaded(library, prefix):
        run = FrozenRun(mtc, bundle, recipe, prefix + ".jsonl", LAYOUT.ranks,
                        comm="threads")
    try:
        by_name, anonymous = run.arenas(), run.anonymous()
    finally:
        code = run.end()
    report.expect(code == INTERRUPTED, f"expected exit code {INTERRUPTED} after "
                  f"SIGINT, found {code}")
    ranges = named_ranges(prefix + ".names")
    wanted = {(rank, name): printed[rank // per_stage][name]
              for rank in range(LAYOUT.ranks) for name in (*ARENAS, KERNELS)}
    report.expect(all(wanted[rank, KERNELS] for rank in range(LAYOUT.ranks)),
                  "threads: no rank has a workspace of kernels")
    # An arena of no bytes is not mapped.
    wanted = {key: size for key, size in wanted.items() if size}
    found = {key: end - begin for key, (begin, end) in ranges.items()}
    ways = [("the ranges that were mapped and named", found)]
    # Without names in the kernel there are none at all; with names, all count.
    if by_name:
        ways.append(("the names in smaps", by_name))
    for way, sizes in ways:
        for key in sorted(wanted.keys() | sizes.keys()):
            report.expect(wanted.get(key) == sizes.get(key), "threads: rank "
                          f"{key[0]} maps {sizes.get(key)} bytes of {key[1]}, by "
                          f"{way}; printed are {wanted.get(key)}")
    ordered = sorted((*span, key) for key, span in ranges.items())
    for before, after in zip(ordered, ordered[1:]):
        report.expect(before[1] <= after[0],
                      f"threads: {before[2]} and {after[2]} overlap")
    for begin, end, key in ordered:
        report.expect(any(b <= begin and end <= e for b, e in anonymous),
                      f"threads: {key[1]} of rank {key[0]} is not mapped in step 2")
    print(f"threads: {len(found)} arenas of {sum(found.values())} bytes, printed "
          f"{sum(wanted.values())}, by {' and by '.join(way for way, _ in ways)}")


def check_mapped_alone(mtc, report, recipe, library, folder):
    """A process without peers shares no arena: its own are anonymous, as of threads."""
    bundle = mtc.compile(SPEC, SINGLE, os.path.join(folder, "alone"))
    wanted = {(0, name): size for name, size in printed_arenas(mtc, report, bundle)[0].items()
              if size}
    prefix = os.path.join(folder, "alone")
    with preloaded(library, prefix):
        run = FrozenRun(mtc, bundle, recipe, prefix + ".jsonl", SINGLE.ranks)
    try:
        files = run.files(0)
    finally:
        code = run.end()
    found = {key: end - begin for key, (begin, end) in named_ranges(prefix + ".names").items()}
    report.expect(code == INTERRUPTED and found == wanted and files == ["mtc:control", "mtc:flight"],
                  f"a rank that is alone: expected anonymous memory of {wanted} and "
                  f"files of control and flight, found {found} and {files}; exit code {code}")
    print(f"a rank that is alone maps {sum(found.values())} bytes that nobody shares")


def kernel_populates():
    MADV_POPULATE_WRITE = 23  # Linux 5.14
    with mmap.mmap(-1, mmap.PAGESIZE) as page:
        try:
            page.madvise(MADV_POPULATE_WRITE)
        except OSError:
            return False
    return True


def populated(path):
    """Bytes by (rank, arena) that the kernel gave at once."""
    ranges, found = named_ranges(path), {}
    with open(path) as file:
        for base, size, _, name in (line.rstrip("\n").split(" ", 3) for line in file):
            if name == "populated":
                owner = next((key for key, (begin, end) in ranges.items()
                              if begin <= int(base, 16) < end), "nobody")
                found[owner] = found.get(owner, 0) + int(size)
    return found


def check_populated(mtc, report, bundle, recipe, library, folder):
    if not kernel_populates():
        return print("which runs populate arenas is not checked: this kernel cannot")
    printed = printed_arenas(mtc, report, bundle)
    per_stage = LAYOUT.ranks // LAYOUT.pp
    all_arenas = {(rank, name): printed[rank // per_stage][name]
                  for rank in range(LAYOUT.ranks) for name in ARENAS
                  if printed[rank // per_stage][name]}
    for what, options, wanted in (
            ("trains", ["--steps", 1], all_arenas),
            ("converts", ["--steps", 0, "--save", os.path.join(folder, "saved")], {}),
            ("evaluates", ["--eval", 1], {})):
        prefix = os.path.join(folder, f"populated-{what}")
        with preloaded(library, prefix):
            mtc.call("run", bundle, *recipe, *options, "--quiet", "--comm", "threads")
        found = populated(prefix + ".names")
        report.expect(found == wanted, f"a run that {what}: expected pages of "
                      f"{sum(wanted.values())} bytes at once, of each arena's, found "
                      f"{found}")
        print(f"a run that {what} has pages of {sum(found.values())} bytes at once")


class Counts:
    """What alloc_count.cpp wrote of one process."""

    def __init__(self, path):
        with open(path, "rb") as file:
            content = file.read()
        # Of the program and of libraries.
        self.calls, self.bytes = (struct.unpack_from("<2q", content, at)
                                  for at in (0, 16))
        self.sites = {tuple(stack): calls for calls, *stack
                      in struct.iter_unpack("<8q", content[32:]) if calls}

    def new_sites(self, before):
        """Calls by places on the stack, beyond those of a shorter run."""
        new = {stack: calls - before.sites.get(stack, 0)
               for stack, calls in self.sites.items()}
        return {stack: calls for stack, calls in new.items() if calls > 0}


def counts(mtc, bundle, recipe, library, folder, comm, steps):
    """By process: a rank, or "main" with all ranks of `threads`."""
    prefix = os.path.join(folder, f"count-{comm}-{steps}")
    with preloaded(library, prefix):
        mtc.call("run", bundle, *recipe, "--steps", steps, "--quiet", "--comm", comm,
                 "--log", prefix + ".jsonl")
    processes = ["main"] if comm == "threads" else list(range(LAYOUT.ranks))
    return {process: Counts(f"{prefix}.{process}") for process in processes}


class Symbols:
    """Names of functions of an executable (position-independent) by address."""

    def __init__(self, executable):
        listing = subprocess.run(["nm", "-C", "--defined-only", executable],
                                 check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^([0-9a-f]+) [tTwW] (.*)$", listing, re.MULTILINE)
        self.functions = sorted((int(address, 16), name) for address, name in found)

    def name(self, place):
        """The function of a place of alloc_count.cpp; it returns to there."""
        index = bisect.bisect_left(self.functions, (place,)) - 1
        return self.functions[index][1] if place > 0 and index >= 0 else "unknown"

    def caller(self, stack):
        """The innermost function that is no container's or allocator's of C++."""
        names = [self.name(place) for place in stack]
        return next((name for name in names
                     if not re.match(r"(.* )?(std|__gnu_cxx)::", name.split("(")[0])),
                    names[0])


def new_callers(program, short, long):
    """Calls by function of the executable, beyond those of the shorter run."""
    sites, callers = long.new_sites(short), {}
    symbols = Symbols(program) if sites else None
    for stack, calls in sites.items():
        name = symbols.caller(stack)
        callers[name] = callers.get(name, 0) + calls
    return callers


def check_allocations(mtc, report, bundle, recipe, library, folder, comm):
    """A run of 9 steps allocates as often as one of 1 step: nothing in the other 8.
    (Both numbers have one digit. What is left is the time in the header of the log, whose
    text, and each copy of it, has up to three digits more or less: no call more, few bytes.)"""
    more, few = 8, 64
    first = counts(mtc, bundle, recipe, library, folder, comm, 1)
    later = counts(mtc, bundle, recipe, library, folder, comm, 1 + more)
    for process, short in first.items():
        who, long = f"{comm}, all ranks", later[process]
        report.expect(short.calls[0] > 0, f"{who}: no allocation was counted: the "
                      "library was not loaded")
        calls, library_calls = (b - a for a, b in zip(short.calls, long.calls))
        library_bytes = long.bytes[1] - short.bytes[1]
        program = mtc.program
        if comm == "shm":
            stage = process // (LAYOUT.ranks // LAYOUT.pp)
            program = os.path.join(bundle, "programs", f"stage{stage}")
            who = f"shm, rank {process}"
        report.expect(calls == 0 and abs(long.bytes[0] - short.bytes[0]) < few,
                      f"{who}: the program allocates {calls} times, "
                      f"{long.bytes[0] - short.bytes[0]} bytes, in {more} steps "
                      "after the first")
        for name, number in new_callers(program, short, long).items():
            report.expect(False, f"{who}: {number} allocations in {name} in {more} "
                          "steps after the first")
        print(f"{who}: {short.calls[0]} allocations until the end of the first step, "
              f"{calls} after; libraries {library_calls / more:g} a step, "
              f"{library_bytes / more:g} bytes a step")


def shrink(ir, stage, arena):
    """The text of a plan with one arena of one stage a page smaller."""
    lists = list(re.finditer(r"arenas = array<i64: ([\d, ]+)>", ir))
    found = lists[stage]
    sizes = [int(size) for size in found[1].split(",")]
    sizes[arena] -= PAGE
    return (ir[:found.start(1)] + ", ".join(map(str, sizes))
            + ir[found.end(1):])


def check_shrunk(mtc, report, recipe, folder):
    plan = os.path.join(folder, "plan.mlir")
    mtc.call("compile", SPEC, *LAYOUT.options(), "--compile-to=plan-memory",
             "-o", plan)
    with open(plan) as file:
        ir = file.read()
    edited = os.path.join(folder, "edited.mlir")
    bundle = os.path.join(folder, "edited")

    def attempt(text):
        """How far the plan comes: rejected where, and the message."""
        with open(edited, "w") as file:
            file.write(text)
        result = mtc.call("compile", edited, "--from=plan-memory", "-o", bundle,
                          check=False)
        if result.returncode != 0:
            return "compile", result.stderr
        result = mtc.call("run", bundle, *recipe, "--steps", 1, "--quiet",
                          check=False)
        return ("run" if result.returncode else None), result.stderr

    where, message = attempt(ir)
    report.expect(where is None, f"the unedited plan is rejected: {message}")
    for stage in range(LAYOUT.pp):
        for index, name in enumerate(ARENAS):
            where, message = attempt(shrink(ir, stage, index))
            what = f"stage {stage} with {name} a page smaller"
            report.expect(where is not None, f"{what} runs")
            # Rejected for this, and not for something else, nor killed.
            said = [line for line in message.splitlines() if f"arena {name}" in line
                    or f"arena '{name}'" in line]
            report.expect(said, f"{what}: no message names the arena: {message}")
            print(f"{what}: rejected by {where}: {said[0] if said else 'no message'}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.bin")
        corpus.write(data)
        recipe = ["--data", data, "--data-type", "u8"]
        bundle = mtc.compile(SPEC, LAYOUT, os.path.join(folder, "bundle"))
        team = mtc.compile(SPEC, LAYOUT, os.path.join(folder, "team"),
                           ["--threads", "2"])
        for check in (lambda: check_mapped(mtc, report, bundle, recipe, folder),
                      lambda: check_mapped_threads(mtc, report, team, recipe,
                                                   sys.argv[2], folder),
                      lambda: check_mapped_alone(mtc, report, recipe, sys.argv[2], folder),
                      lambda: check_populated(mtc, report, team, recipe, sys.argv[2],
                                              folder),
                      lambda: check_allocations(mtc, report, bundle, recipe,
                                                sys.argv[2], folder, "shm"),
                      lambda: check_allocations(mtc, report, team, recipe,
                                                sys.argv[2], folder, "threads"),
                      lambda: check_shrunk(mtc, report, recipe, folder)):
            try:
                check()
            except Failed as failure:
                report.expect(False, str(failure))
    return report.finish("memory")


if __name__ == "__main__":
    sys.exit(main())
