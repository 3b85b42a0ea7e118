#!/usr/bin/env python3
"""The GEMM kernels as they are checked in.

Products are within their bounds, and each wait or barrier that is left out is noticed.
"""

import argparse
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import ptx_files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", help="execute_gemm")
    parser.add_argument("source", help="the folder of the kernels")
    args = parser.parse_args()
    ptx = os.path.join(args.source, "ptx")
    done = ptx_files.run([args.tool, ptx, "1"])
    print(done.stdout + done.stderr, end="")
    if done.returncode != 0:
        sys.exit("a GEMM kernel is wrong")

    def is_right(type_, folder):
        return ptx_files.run([args.tool, f"--gtest_filter=*OfWholeTiles/{type_}_{type_}", folder, "1"]).returncode == 0

    for type_ in "f32", "bf16":
        ptx_files.check_plants(ptx, f"gemm_{type_}.ptx", f"mtc_gemm_{type_}_nt", functools.partial(is_right, type_))


if __name__ == "__main__":
    main()
