#!/usr/bin/env python3
"""Kernels of random bodies and of plans, executed as the PTX that a GPU gets.

make_cases compiles them for a GPU and for the CPU, and says what has to come out;
execute_cases runs the PTX in three random orders of blocks and warps: a race, a
read of memory that nothing wrote, an address out of bounds or not aligned, an
error beyond its bound and other bits in another order are failures. mutate_cases changes one
instruction of some: of these most are noticed, and nearly all others are equal by a rule.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

PLANS = {
    "f32": ["gpt2-nano", "--tp", "2", "--pp", "2", "--mbs", "2", "--gbs", "8"],
    "bf16": ["gpt2-nano", "--tp", "2", "--pp", "2", "--mbs", "2", "--gbs", "8", "--dtype", "bf16"],
    "fp16": ["gpt2-nano", "--pp", "2", "--mbs", "1", "--gbs", "4", "--dtype", "fp16"],
    "rms": ["gpt2-nano-rms", "--tp", "4", "--mbs", "3", "--gbs", "6"],
}


def check(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    print(done.stdout + done.stderr, end="")
    if done.returncode != 0:
        sys.exit(f"expected exit 0 of {os.path.basename(command[0])}, found {done.returncode}")
    return done.stdout


def run_under(driver, program, cases, folder):
    """run_cases on a driver: its results as execute_cases has them, and within bounds."""
    results = os.path.join(folder, "results.jsonl")
    check([program, cases, results], dict(os.environ, LD_LIBRARY_PATH=driver))
    with open(results) as file:
        rows = [json.loads(line) for line in file]
    wrong = [row["kernel"] for row in rows
             if not row["guards"] or any(operand["worst"] > 1 for operand in row["operands"])]
    if wrong or not rows:
        sys.exit(f"expected all kernels within their bounds under the driver, found {len(rows)}, wrong: {wrong}")
    return results


def plan_of(mtc, name, options, folder):
    """The verified plan of a model for a GPU, as a file."""
    ir = os.path.join(folder, name)
    check([mtc, "compile", *options, "--target=cuda:sm_90", "--compile-to=kernels",
           "--save-ir", ir, "-o", ir + ".ptx"])
    return glob.glob(os.path.join(ir, "*verify-plan.mlir"))[0]


def check_same_text(cases, number, compiled):
    """PTX of a plan that was read from its file is that of the plan itself."""
    for path in glob.glob(os.path.join(compiled, "stage*.ptx")):
        with open(path) as one, open(os.path.join(cases, f"plan{number}_{os.path.basename(path)}")) as other:
            if one.read() != other.read():
                sys.exit(f"expected the same PTX of plan {number} from memory and from its file, in {os.path.basename(path)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--random", type=int, default=100, help="random kernels")
    parser.add_argument("--seed", type=int, default=1, help="of the random kernels")
    parser.add_argument("--mutants", type=int, default=40, help="of these kernels, by a seed")
    parser.add_argument("--keep", help="a folder for the cases, to run them on a GPU with run_cases")
    parser.add_argument("--driver", help="a folder with libcuda.so.1, to run run_cases on, too")
    args = parser.parse_args()
    mtc = os.path.join(args.build, "bin", "mtc")
    tools = os.path.join(args.build, "test")
    with tempfile.TemporaryDirectory() as folder:
        cases = args.keep or os.path.join(folder, "cases")
        os.makedirs(cases, exist_ok=True)
        plans = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "edges.mlir")]
        plans += [plan_of(mtc, name, options, folder) for name, options in PLANS.items()]
        check([os.path.join(tools, "make_cases"), cases, str(args.seed), str(args.random), *plans])
        for number, name in enumerate(PLANS, 1):
            check_same_text(cases, number, os.path.join(folder, name + ".ptx"))
        command = [os.path.join(tools, "execute_cases"), cases, "1", "2", "3"]
        if args.driver:
            command += ["--gpu", run_under(args.driver, os.path.join(tools, "run_cases"), cases, folder)]
        said = check(command)
        if args.driver and f" {said.split()[0]} with the GPU's bytes" not in said:
            sys.exit("expected the bytes of the executor from its driver")
        # More by hand, and of another seed.
        check([os.path.join(tools, "mutate_cases"), cases, "1", str(args.mutants)])
    print("cuda kernels: all expectations hold")


if __name__ == "__main__":
    main()
