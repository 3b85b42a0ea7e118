#!/usr/bin/env python3
"""Exposed communication of a step, by what overlaps and what is computed again.

Trains one model under a layout with each choice of `--overlap` and `--recompute`, with
and without `--comm-thread`, and reads a trace of its last step.

usage: overlap.py BUILD_DIR BOOK [--rows dp|pp|tp|sp|cp] [--model NAME] [--layout "--dp 2"]
                  [--steps N] [--json] [--overlap "A B ..."] [--recompute "A B ..."]
       BOOK: any file of at least 1 MB; tokens are its bytes
       --rows: a layout with the choices that matter there, dp without it; other options
       replace a part of it
       choices are separated by blanks; "none" overlaps nothing; "full+distributed" is full
       recompute with --distribute-saved-activations
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
BATCH = "--mbs 1 --gbs 4 --seq 128"
# Layout, overlaps, and what is computed again. Sums over tp and cp stand between products
# that need them: what can run beside them are products of weight gradients, on the thread.
ROWS = {
    "dp": ("--dp 2 --zero 1 --bucket-size 8000000", "none grad-reduce grad-reduce,param-gather",
           "none selective layers=6 full"),
    "pp": ("--pp 2", "none p2p", "none full microbatches=1"),
    "tp": ("--tp 2", "none", "none selective ops=norm,pointwise ops=attention,dropout full "
           "full+distributed"),
    "sp": ("--tp 2 --sp", "none", "none selective ops=norm,pointwise full"),
    "cp": ("--cp 2 --bucket-size 8000000", "none grad-reduce", "none selective ops=attention full"),
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def measure(options, folder, overlap, thread, recompute):
    mtc = os.path.join(options.build, "bin", "mtc")
    bundle, log, trace = (os.path.join(folder, name) for name in ("b", "log", "trace.json"))
    policy, _, distributed = recompute.partition("+")
    report = json.loads(run(
        [mtc, "compile", options.model, *options.layout.split(), "--overlap", overlap,
         "--recompute", policy,
         *(["--distribute-saved-activations"] if distributed else []), *(["--comm-thread"] if thread else []), "--json",
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
    parser.add_argument("--rows", choices=ROWS, default="dp")
    parser.add_argument("--layout")
    parser.add_argument("--overlap")
    parser.add_argument("--recompute")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    layout, overlap, recompute = ROWS[options.rows]
    options.layout = options.layout or f"{layout} {BATCH}"
    options.overlap = options.overlap or overlap
    options.recompute = options.recompute or recompute
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for recompute, overlap, thread in itertools.product(
                options.recompute.split(), options.overlap.split(), (False, True)):
            rows.append(measure(options, folder, overlap, thread, recompute))
            print(".", end="", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'recompute':22} {'overlap':24} {'thread':6} {'ms a step':>9} {'exposed':>8} "
          f"{'of step':>7} {'hidden':>8} {'MiB':>7}")
    for row in rows:
        print(f"{row['recompute']:22} {row['overlap']:24} {str(row['comm_thread']):6} "
              f"{row['step_ms']:9.1f} {row['exposed_ms']:8.1f} {row['exposed_part']:7.1%} "
              f"{row['hidden_ms']:8.1f} {row['bytes'] / 2**20:7.1f}")


if __name__ == "__main__":
    main()
