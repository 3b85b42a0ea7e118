#!/usr/bin/env python3
"""Bad input and bad circumstances: how mtc ends, what it says, what it leaves.

Usage: test_bad_input.py BIN [WORD...]   only the cases whose names have a word; prints
their messages.
"""

import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

import bad_bundles
import bad_case
import bad_commands
import bad_data
import bad_explain
import bad_files
import bad_lint
import bad_logs
import bad_options
import bad_places
import bad_plots
import bad_runs
import bad_schedules
import bad_settings
import bad_specs
import bad_streams
from run_layout import Mtc, Report

TABLES = (bad_commands, bad_specs, bad_data, bad_files, bad_logs, bad_bundles, bad_options, bad_places, bad_plots,
          bad_runs, bad_schedules, bad_streams, bad_lint, bad_settings, bad_explain)
# A case is worth something only if another one is not the same.
LEAST = 60


def prepare(mtc, folder):
    """The whole bundles, the spec and the tokens that cases start from."""
    os.makedirs(folder)
    spec = os.path.join(folder, "tiny.toml")
    with open(spec, "w") as file:
        file.write(bad_specs.GOOD)
    with open(os.path.join(folder, "data.bin"), "wb") as file:
        file.write(bytes((7 * i + i // 5) % 64 for i in range(20000)))
    for name, options in (("one", ["--gbs", 2]),
                          ("two", ["--gbs", 4, "--tp", 2, "--pp", 2])):
        mtc.call("compile", spec, *options, "--isa", "x86-64-v3", "-o",
                 os.path.join(folder, name))
    mtc.call("run", os.path.join(folder, "one"), "--data",
             os.path.join(folder, "data.bin"), "--data-type", "u8", "--steps", 2,
             "--quiet", "--save", os.path.join(folder, "weights.safetensors"),
             "--checkpoints", os.path.join(folder, "ckpt"), "--save-interval", 1)


def link_whole(whole, folder):
    os.makedirs(folder)
    for name in os.listdir(whole):
        os.symlink(os.path.join(whole, name), os.path.join(folder, name))


def segments():
    """Names of shared memory that outlives its process."""
    folder = "/dev/shm"
    return {name for name in os.listdir(folder) if "mtc" in name} \
        if os.path.isdir(folder) else set()


CASES = [case for table in TABLES for case in table.CASES]


def run_case(number, program, whole, folder):
    """What is wrong with a case, by its number: cases hold functions, which cannot be
    sent to another process. And how it ended."""
    link_whole(whole, folder)
    return bad_case.check_case(CASES[number], bad_case.Place(program, folder))


def run_cases(numbers, mtc, whole, folder, report, verbose):
    """Two at a time, each in a process: many of them wait for something. Small ones, so
    that two of four ranks are as many processes as elsewhere one of eight."""
    with ProcessPoolExecutor(max_workers=2) as pool:
        ends = [(CASES[number], pool.submit(
            run_case, number, os.path.abspath(mtc.program), whole,
            os.path.join(folder, f"case{number}"))) for number in numbers]
        for case, end in ends:
            wrong, ended = end.result()
            for sentence in wrong:
                report.expect(False, f"{case.name}: {sentence}")
            if wrong or verbose:
                print(f"--- {case.name}: code {ended.code}\n{ended.err.rstrip()}")


def main():
    mtc, report, words = Mtc(), Report(), sys.argv[2:]
    names = {case.name for case in CASES}
    report.expect(len(names) == len(CASES) >= LEAST,
                  f"expected at least {LEAST} cases, each with a name of its own, "
                  f"found {len(CASES)} with {len(names)} names")
    numbers = [number for number, case in enumerate(CASES)
               if not words or any(word in case.name for word in words)]
    shared, start = segments(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole")
        prepare(mtc, whole)
        before = bad_case.Place(mtc.program, whole).files()
        run_cases(numbers, mtc, whole, folder, report, bool(words))
        report.expect(bad_case.Place(mtc.program, whole).files() == before,
                      "a case changed a bundle that was not its own")
    report.expect(segments() <= shared, "shared memory is left: "
                  f"{', '.join(sorted(segments() - shared))}")
    return report.finish(f"{len(numbers)} cases of bad input in "
                         f"{time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
