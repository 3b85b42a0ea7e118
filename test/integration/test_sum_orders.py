#!/usr/bin/env python3
"""Schedules that somebody wrote, whose microbatches are not added in ascending order.

Such an order is a class of bits of its own: the same for every recomputation, transport,
overlap and ZeRO-1; another than in ascending order; and within the bounds of N5 of one
process. The report has the order, and none for a schedule that ascends.

usage: test_sum_orders.py BIN_DIR
"""

import dataclasses
import json
import os
import sys
import tempfile

import corpus
import safetensors
from layouts import Layout, written
from run_layout import Mtc, Report, relative

STEPS = 3
BACK = [2, 0, 3, 1, 7, 6, 4, 5]
OWN = written("own-order")
# Gradients that are put off, and added in an order of their own on the first stage only.
SPLIT = """F0 F1 F2 I0 F3 I1 W1 I2 W0 I3 W3 W2 F4 F5 F6 I4 F7 I5 I6 I7 W7 W6 W5 W4
F0 I0 W0 F1 I1 W1 F2 I2 W2 F3 I3 W3 F4 I4 W4 F5 I5 W5 F6 I6 W6 F7 I7 W7
"""
# Forwards of the last stage, which add losses, and backwards of both.
LOSSES = """F0 F1 F2 F3 F4 F5 F6 F7 B3 B2 B1 B0 B7 B6 B5 B4
F3 F2 F1 F0 F7 F6 F5 F4 B3 B2 B1 B0 B7 B6 B5 B4
"""


def variants(schedule):
    """Layouts of one class of bits."""
    one = Layout(1, 2, 1, 0, schedule)
    return [one, dataclasses.replace(one, recompute="full"),
            dataclasses.replace(one, overlap="none")]


# Two replicas halve the microbatches: these take micro-batches of half the size.
REPLICAS = [Layout(1, 2, 2, zero, OWN, micro_batch=1, overlap=overlap)
            for zero, overlap in ((0, "p2p"), (1, "p2p"), (1, "p2p,grad-reduce"))]
TWO_AXES = [Layout(2, 2, 1, 0, OWN), Layout(2, 2, 1, 0, OWN, recompute="selective")]


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)

    def file(self, name, text):
        path = os.path.join(self.folder, name + ".txt")
        with open(path, "w") as file:
            file.write(text)
        return path

    def run(self, layout, comm=("shm",)):
        """The log, a hash of gradients and parameters, and what the report says of sums."""
        bundle = self.mtc.compile("gpt2-nano", layout, os.path.join(self.folder, "bundle"))
        out = os.path.join(self.folder, "out")
        log = self.mtc.run(bundle, ["--data", self.data, "--data-type", "u8", "--steps", STEPS],
                           out, comm, dumps=("grads", "params"))
        digests = [safetensors.digest(safetensors.read(os.path.join(out, f"{name}.safetensors")))
                   for name in ("grads", "params")]
        with open(os.path.join(bundle, "report.json")) as file:
            orders = json.load(file).get("sum_orders", [])
        return [(step["loss"], step["grad_norm"]) for step in log], digests, orders

    def family(self, what, layouts, orders):
        """All have the bits of the first, and it those of no ascending order."""
        first = None
        ascending, bits, none = self.run(dataclasses.replace(layouts[0], schedule="1f1b"))
        self.report.expect(none == [], f"1f1b: expected no order in the report, found {none}")
        for layout in layouts:
            found = self.run(layout)
            first = first or found
            self.report.expect(found == first, f"{what}, {layout.name}: expected {first}, "
                               f"found {found}")
        self.report.expect([(o["stage"], o["microbatches"]) for o in first[2]] == orders,
                           f"{what}: expected the orders {orders}, found {first[2]}")
        self.report.expect(first[1] != bits, f"{what}: has the bits of ascending microbatches")
        # The bounds of N5, three steps.
        for step, (one, other) in enumerate(zip(ascending, first[0], strict=True), 1):
            for key, a, b, bound in zip(("loss", "norm"), one, other, (2e-6, 1e-5)):
                self.report.expect(relative(a, b) <= bound, f"{what}: {key} of step {step} is "
                                   f"{b}, in ascending order {a}")
        threads = self.run(layouts[0], comm=("threads",))
        self.report.expect(threads == first, f"{what}: threads have other bits than processes")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        both = [(0, BACK), (1, BACK)]
        tester.family("backwards", variants(OWN), both)
        tester.family("two replicas", REPLICAS, both)
        tester.family("tp 2", TWO_AXES, both)
        split = tester.file("split", SPLIT)
        tester.family("weight gradients", variants(split)[:2], [(0, [1, 0, 3, 2, 7, 6, 5, 4])])
        losses = [3, 2, 1, 0, 7, 6, 5, 4]
        tester.family("losses", variants(tester.file("losses", LOSSES)),
                      [(0, losses), (1, losses), (1, losses)])
    return report.finish("five orders that do not ascend")


if __name__ == "__main__":
    sys.exit(main())
