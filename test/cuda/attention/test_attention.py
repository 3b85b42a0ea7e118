#!/usr/bin/env python3
"""The attention kernels as they are checked in.

execute_attention runs their PTX, and compares with double precision; bits are equal
in another order of blocks and warps by the same bounds. Then every wait and barrier of
one module is left out, one at a time: a fault or a wrong value has to show. Those of fp32
have none. The files are those that hasAttention promises to programs; where nvcc has the
version that they name, it has to make the same ones.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import ptx_files

WAITS = re.compile(r"^(bar\.sync|bar\.warp\.sync|cp\.async\.(wait|commit)_group|fence\.proxy\.async|"
                   r"wgmma\.(fence|wait_group|commit_group))")
PLANTED_IN = ["bf16_d64", "bf16_d256", "bf16_d64_sm_90a"]
PLANTED_CASES = ["tail_", "pieces_"]


def file_of(instance):
    return f"attention_{instance}.ptx"


def execute(tool, folder, seed, cases=""):
    done = ptx_files.run([tool, folder, str(seed), cases])
    return done.returncode == 0, done.stdout + done.stderr


def check_plants(tool, ptx, instance):
    """Every line that waits, left out, is noticed."""
    name = file_of(instance)
    with open(os.path.join(ptx, name)) as file:
        lines = file.read().split("\n")
    waits = [i for i, line in enumerate(lines) if WAITS.match(line)]
    missed = []
    for i in waits:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w") as file:
                file.write("\n".join(lines[:i] + lines[i + 1:]))
            if all(execute(tool, folder, 1, case + instance)[0] for case in PLANTED_CASES):
                missed.append(f"line {i + 1}: {lines[i]}")
    print(f"{instance}: {len(waits) - len(missed)} of {len(waits)} waits that were left out are noticed")
    if missed:
        sys.exit("not noticed:\n" + "\n".join(missed))


def check_names(tool, ptx):
    """What programs are told that there is, is what is there."""
    names = ptx_files.run([tool, "names"]).stdout.split()
    expected, found = sorted(map(file_of, names)), sorted(os.listdir(ptx))
    if expected != found:
        sys.exit(f"expected the files that hasAttention promises, {expected}, found {found}")
    print(f"{len(found)} files are those that programs are promised")


def check_under(driver, program, ptx):
    """The program that runs the cases on a GPU, on the driver's stand-in."""
    done = subprocess.run([program, ptx, "check"], capture_output=True, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=driver))
    rows = [json.loads(line) for line in done.stdout.splitlines() if '"case"' in line]
    there = [row for row in rows if os.path.exists(os.path.join(ptx, file_of(row["instance"])))]
    wrong = [row for row in there if not row["ok"]]
    untried = set(os.listdir(ptx)) - {file_of(row["instance"]) for row in there}
    if done.returncode != 0 or untried or wrong:
        sys.exit("expected the cases of what is checked in to be right on the driver, "
                 f"found {wrong}, none of {untried}: {done.stderr}")
    print(f"{len(there)} cases are right on the driver's stand-in")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", help="execute_attention")
    parser.add_argument("source", help="the folder of the kernels")
    parser.add_argument("--driver", nargs=2, metavar=("FOLDER", "PROGRAM"),
                        help="a folder with libcuda.so.1, and run_attention")
    args = parser.parse_args()
    ptx = os.path.join(args.source, "ptx")
    check_names(args.tool, ptx)
    for seed in 1, 2:
        ok, text = execute(args.tool, ptx, seed)
        print(text, end="")
        if not ok:
            sys.exit("an attention kernel is wrong")
    if args.driver:
        check_under(*args.driver, ptx)
    for instance in PLANTED_IN:
        check_plants(args.tool, ptx, instance)
    ptx_files.check_made_again(args.source, ptx)


if __name__ == "__main__":
    main()
