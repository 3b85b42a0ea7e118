#!/usr/bin/env python3
"""What watching costs: a log, events and named times of every step, beside the watchdog.

Runs of the same bundle by turns: with a line of the log for each 30 steps, for each step, with
a log and events, and with named times of level 1 and 2. Of each the median milliseconds of a
step, and of what lies between two steps: the time stamps of two lines, less the steps. Medians
over all lines of all rounds. Between steps a run also fetches the data of the next: that is
nearly all of what lies there with a line for each 30 steps, and the rest is what watching costs.

usage: observe.py BIN_DIR BOOK [--model gpt2-nano] [--rounds 5] [--steps 60]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

WARM_UP = 5
SELDOM = 30
WAYS = {"a line in 30 steps": ["--log-interval", str(SELDOM)], "log": [], "log, events": ["--tensorboard-dir"],
        "log, events, times 1": ["--tensorboard-dir", "--timing-log-level", "1"],
        "log, events, times 2": ["--tensorboard-dir", "--timing-log-level", "2"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin")
    parser.add_argument("book")
    parser.add_argument("--model", default="gpt2-nano")
    parser.add_argument("--layout", default="--tp 2 --gbs 16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60,
                        help="a multiple of 30")
    return parser.parse_args()


def one(mtc, bundle, options, way, folder):
    """Milliseconds of steps, and between steps."""
    log = os.path.join(folder, "log.jsonl")
    if os.path.exists(log):
        os.remove(log)
    each = SELDOM if "--log-interval" in WAYS[way] else 1
    warm_up = max(WARM_UP, each)
    more = [word for option in WAYS[way] for word in (
        (option, os.path.join(folder, "events")) if option == "--tensorboard-dir" else (option,))]
    subprocess.run([mtc, "run", bundle, "--data", options.book, "--data-type", "u8", "--quiet",
                    "--steps", str(options.steps + warm_up), "--log", log, *more], check=True)
    with open(log) as file:
        rows = [json.loads(line) for line in file][1:]
    rows = [row for row in rows if row["step"] >= warm_up and row["step"] % each == 0]
    between = [1e3 * (b["time"] - a["time"]) / each - b["step_ms"]
               for a, b in zip(rows, rows[1:])]
    return [row["step_ms"] for row in rows[1:]], between


def main():
    options = parse()
    mtc = os.path.join(options.bin, "mtc")
    with tempfile.TemporaryDirectory() as folder:
        bundle = os.path.join(folder, "bundle")
        subprocess.run([mtc, "compile", options.model, *options.layout.split(), "-o", bundle],
                       check=True, stdout=subprocess.DEVNULL)
        found = {way: ([], []) for way in WAYS}
        for _ in range(options.rounds):
            for way in WAYS:
                for all_of, these in zip(found[way], one(mtc, bundle, options, way, folder)):
                    all_of += these
    base, data = (statistics.median(of) for of in found["a line in 30 steps"])
    print(f"{options.model} {options.layout}, {options.rounds} rounds of {options.steps} steps, "
          "medians")
    for way, (steps, between) in found.items():
        step, gap = statistics.median(steps), statistics.median(between)
        print(f"{way:24} step {step:8.3f} ms ({100 * (step / base - 1):+.2f} %), between steps "
              f"{1e3 * gap:6.1f} us ({100 * gap / step:.2f} %), of watching "
              f"{1e3 * (gap - data):5.1f} us ({100 * (gap - data) / step:.2f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
