#!/usr/bin/env python3
"""Which share of a step the notes of a flight record take.

bench_flight says what a note costs; a run whose rank is killed leaves records, which say how many
a rank takes in a step; its log says how long a step is. The share is the product: it is too small
to be seen in the times of steps. Each note counts as one of a collective, the dearest.

usage: flight.py BUILD_DIR BOOK [--runs N]
       BOOK: any file of at least 1 MB; tokens are its bytes
"""

import argparse
import collections
import glob
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time

BUNDLES = (("gpt2-nano", "--gbs", "16"),
           ("gpt2-nano", "--tp", "2", "--pp", "2", "--gbs", "16"))
STEPS = 6


def notes_of_step(folder):
    """The most notes of a step that a record has in full, over ranks."""
    most = 0
    for path in glob.glob(os.path.join(folder, "rank*.json")):
        with open(path) as file:
            record = json.load(file)
        steps = collections.Counter(each["mtc"]["step"]
                                    for each in record["entries"] + record["rows"])
        most = max(most, *steps.values())
    return most


def run(build, bundle, book, folder):
    """Milliseconds of steps, and notes of one."""
    log, records = os.path.join(folder, "log"), os.path.join(folder, "flight")
    process = subprocess.Popen(
        [os.path.join(build, "bin", "mtc"), "run", bundle, "--data", book, "--data-type", "u8",
         "--steps", "100000", "--quiet", "--log", log, "--flight", records],
        stderr=subprocess.DEVNULL)
    lines = []
    while len(lines) < STEPS:
        if process.poll() is not None:
            raise ValueError(f"mtc run ended with {process.returncode}")
        time.sleep(0.05)
        if os.path.exists(log):
            with open(log) as file:
                lines = file.readlines()
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        os.kill(int(file.read().split()[0]), signal.SIGKILL)
    process.wait()
    times = [json.loads(line)["step_ms"] for line in lines[2:STEPS]]  # behind header and first step
    os.remove(log)
    return statistics.median(times), notes_of_step(records)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    notes = json.loads(subprocess.run([os.path.join(options.build, "test/bench/flight/bench_flight")],
                                      check=True, capture_output=True, text=True).stdout)
    print(f"a note: of a row {notes['row_ns']:.0f} ns, of a collective "
          f"{notes['collective_ns']:.0f} ns")
    for bundle in BUNDLES:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bundle")
            subprocess.run([os.path.join(options.build, "bin", "mtc"), "compile", *bundle, "-o",
                            path], check=True, stdout=subprocess.DEVNULL)
            runs = [run(options.build, path, options.book, folder) for _ in range(options.runs)]
        step = statistics.median(each[0] for each in runs)
        count = max(each[1] for each in runs)
        share = 100 * count * notes["collective_ns"] * 1e-6 / step
        print(f"{' '.join(bundle):40} {count:6} notes a step of {step:8.1f} ms: {share:.3f} %",
              flush=True)


if __name__ == "__main__":
    main()
