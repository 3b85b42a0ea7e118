#!/usr/bin/env python3
"""The scripts for machines with a GPU, without one: packed, then run under the stand-ins.

usage: test_gpu.py BUILD STAND_INS
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import kernel_table

CHECK, RANKS, BENCHMARK = "heads-of-64-bf16-sm_90a", "heads-of-64-bf16-dp-2", "gpt2-nano"
ENDS, INSTANCE = "heads-of-64-fp16", "f16_d64_sm_90a"
LONG, DEATHS = ["long", "long-pp-2"], "deaths"


def run(*command, code=0, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, **environment))
    if done.returncode != code:
        sys.exit(f"expected exit {code} of {' '.join(command)}, found {done.returncode}:\n{done.stdout}")
    return done.stdout


def check_table(folder):
    """Of three steps the last is counted."""
    path = os.path.join(folder, "times")
    with open(path, "w") as file:
        for number, (name, time) in enumerate(3 * [("gemm", 1000), ("norm", 3000), ("apply", 500)]):
            file.write(json.dumps({"begin": 4000 * number, "end": 4000 * number + time, "grid": [2, 1, 1],
                                   "block": [32, 1, 1], "name": name}) + "\n")
    lines = kernel_table.table(path)
    if lines[0] != "3 operations, 0.00 ms of 0.01 ms" or "66.7 %    1 x  norm" not in lines[1]:
        sys.exit(f"expected a step of three kernels, norm with two thirds of it, found {lines}")


def check_memory(node, folder):
    """mtc-node ends as mtc does where there is no memory."""
    endless = os.path.join(folder, "endless")
    with open(endless, "wb") as file:
        file.truncate(1 << 30)
    said = run("/bin/sh", "-c", f"ulimit -v 786432; exec {node} data clean {endless} --documents lines "
               f"--workers 1 -o {folder}/out.jsonl", code=1)
    if "error: out of memory" not in said:
        sys.exit(f"expected mtc-node to say that there is no memory, found {said}")


def main():
    build, stand_ins = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        check_table(folder)
        packed, results = (os.path.join(folder, name) for name in ("packed", "results"))
        run(os.path.join(HERE, "make"), build, packed, "--only", CHECK, RANKS, ENDS, BENCHMARK, *LONG, DEATHS)
        node = os.path.join(packed, "bin", "mtc-node")
        needed = run("ldd", node)
        if "LLVM" in needed or "MLIR" in needed:
            sys.exit(f"expected mtc-node without LLVM, found {needed}")
        command = [os.path.join(HERE, "run"), packed, results]
        parts = ["--parts", "checks,tune,benchmarks,no-graph,kernels,sanitizer", "--only", CHECK, BENCHMARK]
        # Ranks are told apart as on a GPU that they share: by the library that names their hosts.
        environment = {"LD_LIBRARY_PATH": stand_ins}
        tools = os.path.join(folder, "tools")  # PATH without compute-sanitizer
        os.mkdir(tools)
        os.symlink(sys.executable, os.path.join(tools, "python3"))
        said = run(*command, *parts, PATH=tools, **environment)
        said += run(*command, "--parts", "nccl,long,deaths", "--only", RANKS, *LONG, DEATHS, **environment)
        said += run(*command, "--parts", "ends,attention", "--only", "skips", "spoils", INSTANCE, **environment)
        for expected in (f"{CHECK}: loss within", f"{CHECK}, products of our own: loss within", f"{CHECK}: goes on from a checkpoint",
                         "skips: exit code 0", "spoils: exit code 15", f"instances ['{INSTANCE}']",
                         f"{BENCHMARK}, graph:", f"{BENCHMARK}, no-graph:", f"{BENCHMARK}, tuned:",
                         f"{RANKS}, NCCL: loss within", "long: steps of [1] graphs and of [", "long-pp-2: steps of [1, 1] graphs and of [",
                         *(f"deaths, {moment}, ranks on hosts of their own: rank 1: killed by signal 9" for moment in ("step 1", "step 2", "graphs")), "the first guess took", "kernels not timed",
                         "compute-sanitizer not run", "0 failures"):
            if expected not in said:
                sys.exit(f"expected {expected!r} to be said, found:\n{said}")
        run(*command, "--only", "nothing", code=1)
        run(os.path.join(HERE, "make"), build, tools, code=1)  # has something of somebody else
        check_memory(node, folder)
        # Other numbers than those that are expected are a failure, and so is a program that is gone.
        log = os.path.join(packed, "expected", CHECK, "log.jsonl")
        with open(log) as file:
            text = file.read()
        with open(log, "w") as file:
            file.write(text.replace('"loss": 5.', '"loss": 6.'))
        for bundle in (BENCHMARK, DEATHS):
            shutil.rmtree(os.path.join(packed, "bundles", bundle, "programs"))
        end = os.path.join(packed, "expected", "spoils", "end.json")
        with open(end) as file:
            text = file.read()
        with open(end, "w") as file:
            file.write(text.replace("step 2", "step 1"))
        said = run(*command, "--parts", "checks,ends,deaths,benchmarks", "--only", CHECK, "spoils", DEATHS, BENCHMARK, code=1, **environment)
        if any(f"FAILED {words}" not in said for words in (f"{CHECK}: loss within", "spoils, gpu: expected",
                                                           "deaths, step 2, ranks on hosts of their own: the moment did not come",
                                                           f"{BENCHMARK}, graph: exit code")):
            sys.exit(f"expected the failures to be named, found:\n{said}")
    print("scripts for a GPU: all expectations hold")


if __name__ == "__main__":
    main()
