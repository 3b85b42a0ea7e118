#!/usr/bin/env python3
"""Whether two builds of mtc make the same plans.

    same_plans.py BIN OTHER_BIN

C++ leaves open in which order arguments are evaluated, and compilers differ: code that
emits ops in two arguments of one call makes plans that depend on who built mtc. Prints
the first line that differs of each layout; exit code 1 if one does. tools/clang calls it
with the builds of GCC and clang.
"""

import os
import subprocess
import sys
from itertools import zip_longest

LAYOUTS = (
    "gpt2-nano --tp 2 --pp 2 --dp 2 --mbs 2 --gbs 8 --zero 1",
    "gpt2-nano-sepqkv --tp 2 --gbs 4 --isa x86-64-v4 --dtype bf16",
    "gpt2-nano-rms --pp 2 --gbs 4 --schedule gpipe",
    "gpt2-nano-untied --dp 2 --gbs 4",
)


def plan(folder, layout):
    return subprocess.run(
        [os.path.join(folder, "mtc"), "compile", *layout.split(),
         "--compile-to=verify-plan"],
        check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    differ = 0
    for layout in LAYOUTS:
        pairs = zip_longest(plan(sys.argv[1], layout), plan(sys.argv[2], layout))
        for number, (one, other) in enumerate(pairs, 1):
            if one != other:
                differ += 1
                print(f"{layout}: line {number}: expected the same in both builds, "
                      f"found\n  {one}\n  {other}")
                break
    print(f"{len(LAYOUTS)} plans of two builds, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
