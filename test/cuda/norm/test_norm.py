#!/usr/bin/env python3
"""The kernels of the norm as they are checked in.

They have the host's bits, each barrier that is left out is noticed, and nvcc makes
the same PTX.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import ptx_files


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", help="execute_norm")
    parser.add_argument("source", help="the folder of the kernels")
    args = parser.parse_args()
    ptx = os.path.join(args.source, "ptx")
    done = ptx_files.run([args.tool, ptx, "1"])
    print(done.stdout + done.stderr, end="")
    if done.returncode != 0:
        sys.exit("a kernel of the norm is wrong")

    def is_right(folder):
        return ptx_files.run([args.tool, "--gtest_filter=Norm.OfFloats*", folder, "1"]).returncode == 0

    ptx_files.check_plants(ptx, "norm.ptx", "mtc_cuda_norm_accumulate_f32", is_right)
    ptx_files.check_made_again(args.source, ptx)


if __name__ == "__main__":
    main()
