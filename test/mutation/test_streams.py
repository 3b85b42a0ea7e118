"""The judge of plans of two streams sees what it is there for: a plan whose two orders
give the bits of the plan for one stream, and of which no wait can be left out without
other bits in one of them. Of plans for GPUs, verify-plan takes none without one of its waits: so
none is needed that another implies.

usage: test_streams.py BIN_DIR [--waits N]    some waits by seed; all of them without N
"""

import argparse
import os
import random
import re
import sys
import tempfile
from dataclasses import replace

from bench import Bench
from plans import LAST, Plan, layout
from run_layout import Mtc, Report

PLAN = Plan(layout(tp=2), streams=2)
GPU = [Plan(layout(dp=2, zero=1, overlap=f"{LAST},param-gather", bucket=800)),
       Plan(layout(tp=2, pp=2, sp=True)),
       Plan(layout(cp=2, pp=2, schedule="interleaved-1f1b", chunks=2), layers=4)]
# Whether what came before `reduce` is known already to the stream of collectives, by sums that
# backwards left there, is a matter of the rows, which assign-streams does not read.
FIRST_OF_REDUCE = re.compile(r"_reduce\(\).*?rt\.wait event (\d+) stream 1", re.S)
TENSOR_FORM = re.compile(r"rt\.tensor_form\b")


def waits(lines):
    """Lines with a wait, of the form with bytes: the other one is not run."""
    depth = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if depth is None and TENSOR_FORM.search(line):
            depth = indent
        elif depth is not None and line.strip() and indent <= depth:
            depth = None
        if depth is None and "rt.wait" in line:
            yield number


def check_gpu(mtc, report, plan, count, folder):
    """Each wait of some, or of all, is needed."""
    bench = Bench(mtc.program, replace(plan, more=("--target", "cuda:sm_90")), folder)
    text = bench.ir["plan-memory"]
    lines = text.split("\n")
    found = list(waits(lines))
    implied = [text.count("\n", 0, match.end())
               for match in FIRST_OF_REDUCE.finditer(text)] if plan.layout.bucket else []
    report.expect(len(found) > 9, f"{plan.name}: expected several waits, found {len(found)}")
    chosen = found if count is None else random.Random(2).sample(found, count)
    for number in chosen:
        ended, _ = bench.judge("\n".join(lines[:number] + lines[number + 1:]), "plan-memory")
        report.expect(ended == "rejected" or number in implied,
                      f"{plan.name}, line {number + 1}, {lines[number].strip()}: left out, "
                      f"verify-plan takes the plan for GPUs ({ended})")
    print(f"{plan.name} for GPUs: {len(chosen)} of {len(found)} waits left out", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--waits", type=int)
    options = parser.parse_args()
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        two = Bench(mtc.program, PLAN, os.path.join(folder, "two"))
        one = Bench(mtc.program, replace(PLAN, streams=1), os.path.join(folder, "one"))
        two.expected = two.control()
        report.expect(two.expected == one.control(), f"{PLAN.name}: its orders have the "
                      "bits of the plan for one stream")
        lines = two.ir["verify-plan"].split("\n")
        found = list(waits(lines))
        report.expect(len(found) > 20, f"expected many waits, found {len(found)}")
        chosen = (found if options.waits is None
                  else random.Random(1).sample(found, options.waits))
        for number in chosen:
            file = os.path.join(folder, "edited.mlir")
            with open(file, "w") as out:
                out.write("\n".join(lines[:number] + lines[number + 1:]))
            report.expect(two.compile_and_run(file, folder) != ("ran", two.expected),
                          f"line {number + 1}, {lines[number].strip()}: left out, no "
                          "order has other bits")
        for plan in GPU:
            check_gpu(mtc, report, plan, options.waits, os.path.join(folder, plan.name))
    return report.finish(f"{len(chosen)} of {len(found)} waits left out")


if __name__ == "__main__":
    sys.exit(main())
