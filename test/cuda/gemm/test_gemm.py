#!/usr/bin/env python3
"""The GEMM kernels as they are checked in: right within bounds, and what nvcc makes."""

import argparse
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
        sys.exit("a kernel of GEMM is wrong")
    ptx_files.check_made_again(args.source, ptx)


if __name__ == "__main__":
    main()
