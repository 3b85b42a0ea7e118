#!/usr/bin/env python3
"""Exposed communication of a step, by what overlaps and what is computed again.

Trains one model under a layout with each choice of `--overlap` and `--recompute`, with
and without `--comm-thread`, and reads a trace of its last step.

usage: overlap.py BUILD_DIR BOOK [--model NAME] [--layout "--dp 2"] [--steps N] [--json]
                  [--overlap "A B ..."] [--recompute "A B ..."]
       BOOK: any file of at least 1 MB; tokens are its bytes
       choices are separated by blanks; "none" overlaps nothing
Idle cores, at least two a rank where a thread of collectives is to gain anything; the
median of all steps but the first two.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

import exposed

WARM_UP = 2


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def measure(options, folder, overlap, thread, recompute):
    mtc = os.path.join(options.build, "bin", "mtc")
    bundle, log, trace = (os.path.join(folder, name) for name in ("b", "log", "trace.json"))
    report = json.loads(run(
        [mtc, "compile", options.model, *options.layout.split(), "--overlap", overlap,
         "--recompute", recompute, *(["--comm-thread"] if thread else []), "--json",
         "-o", bundle]))
    run([mtc, "run", bundle, "--data", options.book, "--data-type", "u8", "--steps",
         str(options.steps + WARM_UP), "--quiet", "--log", log, "--trace", trace])
    with open(log) as file:
        steps = [json.loads(line)["step_ms"] for line in list(file)[1:]][WARM_UP:]
    ranks = exposed.of_file(trace)
    worst = max(ranks.values(), key=lambda rank: rank["exposed"])
    os.remove(log)
    return {"overlap": overlap, "comm_thread": thread, "recompute": recompute,
            "step_ms": statistics.median(steps),
            "exposed_ms": worst["exposed"], "hidden_ms": worst["hidden"],
            "exposed_part": worst["exposed"] / worst["step"],
            "bytes": max(stage["memory"]["total"] for stage in report["stages"])}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--model", default="gpt2-124m")
    parser.add_argument("--layout", default="--dp 2 --zero 1 --mbs 1 --gbs 4 --seq 128 "
                                            "--bucket-size 8000000")
    parser.add_argument("--overlap", default="none grad-reduce grad-reduce,param-gather")
    parser.add_argument("--recompute", default="none selective layers=6 full")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for recompute, overlap, thread in itertools.product(
                options.recompute.split(), options.overlap.split(), (False, True)):
            rows.append(measure(options, folder, overlap, thread, recompute))
            print(".", end="", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'recompute':14} {'overlap':24} {'thread':6} {'ms a step':>9} {'exposed':>8} "
          f"{'of step':>7} {'hidden':>8} {'MiB':>7}")
    for row in rows:
        print(f"{row['recompute']:14} {row['overlap']:24} {str(row['comm_thread']):6} "
              f"{row['step_ms']:9.1f} {row['exposed_ms']:8.1f} {row['exposed_part']:7.1%} "
              f"{row['hidden_ms']:8.1f} {row['bytes'] / 2**20:7.1f}")


if __name__ == "__main__":
    main()
