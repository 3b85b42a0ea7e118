#!/usr/bin/env python3
"""Which samples a run reads, and in which order, depends on nothing but their number:
a step of B samples has those of B / b steps of b, whatever the layout is (contract N3).

Usage: test_samples.py BIN

With a rate of zero the loss of a step is the mean of the losses of its samples, so the
losses of small steps add up to those of large ones. Samples are more than two epochs.
"""

import os
import random
import sys
import tempfile

from run_layout import Mtc, Report, read_log, relative
from tiny_model import SPEC

SAMPLES = 48
WINDOWS = 20
# Global batch, and how it is spread.
BATCHES = {4: [], 8: ["--dp", 2], 12: ["--tp", 2], 16: ["--mbs", 2, "--pp", 2],
           24: ["--dp", 2, "--zero", 1, "--mbs", 3], 48: ["--tp", 2, "--pp", 2]}
# Sums in another order; another sample in a step of 48 moves its loss by 1e-3.
BOUND = 2e-6


def losses(mtc, folder, data, order, batch, options):
    """The mean losses of all prefixes of whole steps, by samples read."""
    bundle = os.path.join(folder, f"b{batch}")
    if not os.path.exists(bundle):
        mtc.call("compile", os.path.join(folder, "tiny.toml"), "--gbs", batch, *options,
                 "-o", bundle)
    log = os.path.join(folder, f"{order}{batch}.jsonl")
    mtc.call("run", bundle, "--data", data, "--data-type", "u8", "--order", order,
             "--steps", SAMPLES // batch, "--lr", 0, "--min-lr", 0, "--quiet", "--log", log)
    total, sums = 0.0, {}
    for line in read_log(log):
        total += batch * line["loss"]
        sums[line["step"] * batch] = total
    return sums


def compare(report, order, batch, expected, actual):
    before = {"small": 0.0, "large": 0.0}
    for samples, total in actual.items():
        small, large = expected[samples] - before["small"], total - before["large"]
        before = {"small": expected[samples], "large": total}
        report.expect(relative(small, large) <= BOUND,
                      f"{order}, batches of {batch}: expected the samples "
                      f"{samples - batch} to {samples} of batches of 4, which have the "
                      f"loss {small / batch}, found {large / batch}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "tiny.toml"), "w") as file:
            file.write(SPEC)
        data, tokens = os.path.join(folder, "data"), random.Random(1)
        with open(data, "wb") as file:
            file.write(bytes(tokens.randrange(64) for _ in range(16 * WINDOWS + 1)))
        for order in ("shuffled", "sequential"):
            sums = {batch: losses(mtc, folder, data, order, batch, options)
                    for batch, options in BATCHES.items()}
            steps = list(sums[4].values())
            means = [(b - a) / 4 for a, b in zip([0.0, *steps], steps)]
            report.expect(max(means) - min(means) > 1e-3, f"{order}: expected samples "
                          f"with losses that differ, found {means}")
            for batch, actual in sums.items():
                compare(report, order, batch, sums[4], actual)
    return report.finish(f"samples of {len(BATCHES)} global batches in two orders")


if __name__ == "__main__":
    sys.exit(main())
