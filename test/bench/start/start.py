#!/usr/bin/env python3
"""How long a run takes from `mtc run` to the end of its first step.

The wall clock of `mtc run --steps 1`, of which the step itself is taken from the log:
what remains is start-up (processes, arenas, weights drawn, data opened) and the end.
Median of several runs, after one that warms the page cache.

usage: start.py BUILD_DIR BOOK [--runs N]
       BOOK: any file of at least 1 MB; tokens are its bytes
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

CASES = [("gpt2-nano", ["--gbs", "16"]),
         ("gpt2-nano", ["--tp", "2", "--pp", "2", "--dp", "2", "--gbs", "16"]),
         ("gpt2-124m", ["--gbs", "4", "--seq", "256"]),
         ("gpt2-124m", ["--tp", "2", "--gbs", "4", "--seq", "256"])]


def once(mtc, bundle, comm, book, log):
    begin = time.perf_counter()
    subprocess.run([mtc, "run", bundle, "--comm", comm, "--data", book, "--data-type",
                    "u8", "--steps", "1", "--quiet", "--log", log], check=True,
                   stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - begin
    with open(log) as file:
        first = list(file)[1]  # behind the header
    os.remove(log)
    return wall, json.loads(first)["step_ms"] / 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    mtc = os.path.join(options.build, "bin", "mtc")
    print(f"{'spec and layout':44}{'comm':>9}{'wall s':>9}{'step s':>9}{'rest s':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (spec, layout) in enumerate(CASES):
            bundle = os.path.join(folder, str(number))
            subprocess.run([mtc, "compile", spec, *layout, "-o", bundle], check=True,
                           stdout=subprocess.DEVNULL)
            for comm in ("shm", "threads"):
                log = os.path.join(folder, "log.jsonl")
                runs = [once(mtc, bundle, comm, options.book, log)
                        for _ in range(options.runs + 1)][1:]
                wall, step = (statistics.median(column) for column in zip(*runs))
                rest = statistics.median(w - s for w, s in runs)
                print(f"{spec + ' ' + ' '.join(layout):44}{comm:>9}{wall:9.3f}{step:9.3f}"
                      f"{rest:9.3f}", flush=True)


if __name__ == "__main__":
    main()
