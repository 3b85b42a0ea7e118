"""Tables of `mtc tune`, edited, and what plans make of them.

The tests of a table's choices (test_tune.py), and of the part that says which weights to pack.
"""

import json
import os
import re

from layouts import Layout
from run_layout import without_locations
from test_goldens import SPECS

USAGE, REJECTED, INFEASIBLE = 2, 3, 4
SPEC = SPECS["tied"][0]
CORES = len(os.sched_getaffinity(0))
OPTIONS = ["--threads-per-rank", min(2, CORES)]  # tune takes no more than there are cores
KEY = ("m", "n", "k", "a_transposed", "b_transposed", "adds", "type", "result")
ROW = ("m", "n", "k", "ta", "tb", "beta", "ab", "c")


def products(mtc, bundle):
    """Of the first program: what computes each."""
    rows = json.loads(mtc.call("inspect", os.path.join(bundle, "programs", "stage0"),
                               "--json").stdout)["gemms"]
    return {tuple(row[key] for key in ROW): row.get("kernel") for row in rows}


def read(file):
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def by(row, kernel):
    """As if it had been faster; where oneDNN has no time, it has none that is planned."""
    row["kernel"] = kernel
    for times in "onednn_us", "inner_product_us":
        row[times] = row[times] or row["own_us"]


def fragments(ir):
    return ir.split("func.func ")[1:]


def write(file, table):
    with open(file, "w", encoding="utf-8") as text:
        json.dump(table, text)
    return file


class PackingTester:
    """The checks of packing; Tester has the rest."""

    def plan(self, layout, batch, *options, to="pack-weights"):
        file = self.path("plan.mlir")
        self.mtc.call("compile", SPEC, *layout.options(batch), *OPTIONS, *options,
                      "--compile-to", to, "-o", file)
        with open(file, encoding="utf-8") as text:
            return without_locations(text.read())

    def packing_table(self, layout):
        """Of its products none pays in a step but one, a forward's up: 10 for packing and 90
        for a product, where it takes 100 else. Returns the table and that row."""
        file = self.path("packing.json")
        self.mtc.call("tune", self.mtc.compile(SPEC, layout, self.path("packing"), OPTIONS),
                      "-o", file, "--rounds", 1, "-q")
        table = read(file)
        weights = [row for row in table["products"] if row["packed_us"] is not None]
        for row in table["products"]:
            by(row, "own")
        for row in weights:
            row.update(own_us=100, packed_us=97, pack_us=100)
        up = next(row for row in weights if row["n"] > row["k"] and not row["b_transposed"])
        up.update(packed_us=90, pack_us=10)
        return table, up

    @staticmethod
    def packed(ir):
        """n, k and whether it is transposed, of the weights that are packed."""
        found = re.findall(r"rt\.packed \d+ of .* n (\d+) k (\d+) .*tb = (\w+)", ir)
        return {(int(n), int(k), tb == "true") for n, k, tb in found}

    def check_packing(self):
        """The table goes before the rule, by the microbatches of a step; what it lacks goes by
        the rule."""
        layout, auto = Layout(micro_batch=8), ("--prepack", "auto")
        table, up = self.packing_table(layout)
        weight = (up["n"], up["k"], up["b_transposed"])

        def packed(file, microbatches, prepack="auto"):
            ir = self.plan(layout, 8 * microbatches, "--prepack", prepack,
                           *(["--gemm-table", file] if file else []))
            return self.packed(ir)

        def expect(what, found, expected):
            self.report.expect(found == expected,
                               f"{what}: expected packed weights {expected}, found {found}")
        file = write(self.path("packs.json"), table)
        expect("one microbatch", packed(file, 1), set())
        expect("two microbatches", packed(file, 2), {weight})
        expect("many microbatches", packed(file, 8), {weight})
        every = packed(None, 8)
        self.report.expect(weight in every and len(every) > 2 and packed(None, 2) == set(),
                           f"expected the rule to pack all weights from 8 on, found {every}")
        expect("always", packed(file, 2, "always"), every)
        without = json.loads(json.dumps(table))
        for row in without["products"]:
            row.pop("packed_us")
            row.pop("pack_us")
        old = write(self.path("old.json"), without)
        expect("a table without times", packed(old, 8), every)
        expect("a table without times, two microbatches", packed(old, 2), set())
        self.report.expect(self.plan(layout, 16, "--gemm-table", file)
                           == self.plan(layout, 16, "--gemm-table", old),
                           "without prepack: expected no word of packing")
        self.check_packing_and_library(layout, table, up, weight)
        self.check_packed_run(layout, file, auto)

    def check_packing_and_library(self, layout, table, up, weight):
        """Where packing pays even beside oneDNN's time, training takes our kernel."""
        by(up, "onednn")
        for time, packs in ((99, True), (95, False)):
            up["onednn_us"] = time
            file = write(self.path("library.json"), table)
            for prepack in "auto", "never":
                ir = self.plan(layout, 16, "--prepack", prepack, "--gemm-table", file)
                by_library = sum("rt.gemm " in line and " by own" not in line
                                 for part in fragments(ir) if "phase = eval>" not in part
                                 for line in part.splitlines())
                expected = {weight} if packs and prepack == "auto" else set()
                self.report.expect(self.packed(ir) == expected
                                   and (by_library == 0) == bool(expected),
                                   f"oneDNN with {time}, {prepack}: expected packed weights "
                                   f"{expected}, else products by oneDNN, found "
                                   f"{self.packed(ir)}, {by_library}")

    def check_packed_run(self, layout, file, auto):
        """As many products as the report counts, of training alone; and no bit of it depends
        on who packs."""
        ir = self.plan(layout, 16, "--gemm-table", file, *auto, to="store-gradients")
        told = ["packs = " in part for part in fragments(ir)]
        evals = ["phase = eval>" in part for part in fragments(ir)]
        self.report.expect(any(told) and any(evals)
                           and not any(map(min, told, evals)),
                           "expected products of training alone to be told")
        arguments = ["compile", SPEC, *layout.options(), *OPTIONS, "--gemm-table", file, *auto]
        said = self.mtc.call(*arguments, "-o", self.path("packed")).stdout
        found = json.loads(self.mtc.call(*arguments, "--json", "-o",
                                         self.path("packed")).stdout)["gemm_table"]["packing"]
        expected = ir.count("packs = true")
        self.report.expect(found == expected > 0
                           and f"{expected} of those by it take less time with their weight "
                           "packed once a step (prepack)" in said,
                           f"expected {expected} products to be packed for, found {found}, {said}")
        never = self.mtc.compile(SPEC, layout, self.path("unpacked"),
                                 [*OPTIONS, "--gemm-table", file])
        golden = os.path.join(self.goldens, "tied-1")
        recipe = ["--data", os.path.join(golden, "data.bin"), "--data-type", "u8", "--steps", 3]
        logs = [self.mtc.run(bundle, recipe, self.path("run"))
                for bundle in (self.path("packed"), never)]
        sums = [[(step["loss"], step["grad_norm"]) for step in log] for log in logs]
        self.report.expect(len(sums[0]) == 3 and sums[0] == sums[1],
                           f"expected the losses and norms of --prepack never, found {sums}")
