"""The memory contract, at eight ranks over shm.

  * The arenas that each process maps are, to the byte, the printed ones.
  * After the first step the program allocates nothing; what the libraries of matrix
    products allocate for a moment is counted and printed.
  * A plan with an arena a page smaller is refused when compiled or when started.

usage: test_memory.py BIN_DIR ALLOC_COUNT_LIBRARY
"""

import json
import os
import re
import struct
import sys
import tempfile

import corpus
from frozen_run import FrozenRun
from layouts import TP2_PP2_DP2
from run_layout import Failed, Mtc, Report

SPEC, LAYOUT, PAGE = "gpt2-nano", TP2_PP2_DP2, 4096
ARENAS = ("params", "grads", "optimizer", "activations", "workspace")
INTERRUPTED = 11  # exit code


def printed_arenas(mtc, report, bundle):
    """Bytes by stage and arena; the report and the programs must agree."""
    with open(os.path.join(bundle, "report.json")) as file:
        stages = json.load(file)["stages"]
    printed = {}
    for stage in stages:
        memory = stage["memory"]
        printed[stage["stage"]] = {name: memory[name] for name in ARENAS}
        program = os.path.join(bundle, "programs", f"stage{stage['stage']}")
        descriptor = json.loads(mtc.call("inspect", program, "--json").stdout)
        report.expect(descriptor["arenas"] == [memory[name] for name in ARENAS],
                      f"stage {stage['stage']}: the program says arenas "
                      f"{descriptor['arenas']}, the report {memory}")
        report.expect(memory["total"] == sum(descriptor["arenas"]),
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


def counts(mtc, bundle, recipe, library, folder, steps):
    """By rank, as alloc_count.cpp lays it out: calls of the program and of
    libraries, bytes of the program and of libraries, and where in the program
    the last call came from."""
    prefix = os.path.join(folder, f"count-{steps}")
    os.environ["LD_PRELOAD"], os.environ["MTC_ALLOC_COUNT"] = library, prefix
    try:
        mtc.call("run", bundle, *recipe, "--steps", steps, "--quiet",
                 "--log", os.path.join(folder, "count.jsonl"))
    finally:
        del os.environ["LD_PRELOAD"], os.environ["MTC_ALLOC_COUNT"]
    found = []
    for rank in range(LAYOUT.ranks):
        with open(f"{prefix}.{rank}", "rb") as file:
            found.append(struct.unpack("<5q", file.read()))
    return found


def check_allocations(mtc, report, bundle, recipe, library, folder):
    """A run of 9 steps allocates as often as one of 1 step: nothing in the other
    8. (Both numbers have one digit, so texts of the run have equal lengths.)"""
    more = 8
    first = counts(mtc, bundle, recipe, library, folder, 1)
    later = counts(mtc, bundle, recipe, library, folder, 1 + more)
    for rank, (short, long) in enumerate(zip(first, later)):
        report.expect(short[0] > 0, f"rank {rank}: no allocation was counted: the "
                      "library was not loaded")
        calls, library_calls, size, library_bytes = (
            after - before for before, after in zip(short[:4], long[:4]))
        report.expect((calls, size) == (0, 0),
                      f"rank {rank}: the program allocates {calls} times, {size} "
                      f"bytes, in {more} steps after the first; the last caller "
                      f"is at {long[4]:#x} of its program")
        print(f"rank {rank}: {short[0]} allocations until the end of the first step, "
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
        """How far the plan comes: refused where, and the message."""
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
    report.expect(where is None, f"the unedited plan is refused: {message}")
    for stage in range(LAYOUT.pp):
        for index, name in enumerate(ARENAS):
            where, message = attempt(shrink(ir, stage, index))
            what = f"stage {stage} with {name} a page smaller"
            report.expect(where is not None, f"{what} runs")
            # Refused for this, and not for something else, nor killed.
            said = [line for line in message.splitlines() if f"arena {name}" in line
                    or f"arena '{name}'" in line]
            report.expect(said, f"{what}: no message names the arena: {message}")
            print(f"{what}: refused by {where}: {said[0] if said else 'no message'}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.bin")
        corpus.write(data)
        recipe = ["--data", data, "--data-type", "u8"]
        bundle = mtc.compile(SPEC, LAYOUT, os.path.join(folder, "bundle"))
        for check in (lambda: check_mapped(mtc, report, bundle, recipe, folder),
                      lambda: check_allocations(mtc, report, bundle, recipe,
                                                sys.argv[2], folder),
                      lambda: check_shrunk(mtc, report, recipe, folder)):
            try:
                check()
            except Failed as failure:
                report.expect(False, str(failure))
    return report.finish("memory")


if __name__ == "__main__":
    sys.exit(main())
