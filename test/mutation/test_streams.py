"""The judge of plans of two streams sees what it is there for: a plan whose two orders
give the bits of the plan for one stream, and of which no wait can be left out without
other bits in one of them.

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
from plans import Plan, layout
from run_layout import Mtc, Report

PLAN = Plan(layout(tp=2), streams=2)
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
    return report.finish(f"{len(chosen)} of {len(found)} waits left out")


if __name__ == "__main__":
    sys.exit(main())
