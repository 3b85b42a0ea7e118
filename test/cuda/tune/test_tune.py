#!/usr/bin/env python3
"""mtc tune, and runs by its tables, without a GPU.

usage: test_tune.py BIN_DIR STAND_INS

A model with heads of 64 elements, compiled for sm_90a, so that attention is by warpgroups, is tuned
and trained under the stand-ins of driver and cuBLASLt. What runs by a table has the numbers of the
CPU; a table that is not for the bundle, the GPU or the library, or is none, is named.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "integration"))

import corpus
import precision
from gpu_checks import BOUNDS, SMALL
from run_layout import Failed, Mtc, Report, read_log, relative
from small_spec import small_spec

INPUT, INFEASIBLE, USAGE = 3, 4, 2
STEPS = 2


class Tester:
    def __init__(self, mtc, report, stand_ins, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.environment = dict(os.environ, LD_LIBRARY_PATH=stand_ins)
        self.spec = self.path("small.toml")
        with open(self.spec, "w") as file:
            file.write(small_spec(tied=True, **SMALL))
        self.data = self.path("data")
        corpus.write(self.data)

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words):
        return subprocess.run([self.mtc.program, *words], capture_output=True, text=True, timeout=120,
                              env=self.environment)

    def compile(self, name, *options):
        done = self.call("compile", self.spec, *precision.options("bf16"), "--mbs", "2", "--gbs", "2",
                         *options, "-o", self.path(name))
        if done.returncode:
            raise Failed(done.stderr)
        return self.path(name)

    def train(self, bundle, *options):
        """(exit code, losses and norms, what was said)."""
        log = self.path("log.jsonl")
        if os.path.exists(log):
            os.remove(log)
        done = self.call("run", bundle, "--quiet", "--data", self.data, "--data-type", "u8", "--steps",
                         str(STEPS), "--warmup", "1", "--log", log, *options)
        rows = [row for row in read_log(log) if "loss" in row] if done.returncode == 0 else []
        return done.returncode, [[row[key] for row in rows] for key in ("loss", "grad_norm")], done.stderr

    def tune(self, *words):
        return self.call("tune", *words, "--algorithms", "3", "--rounds", "1")

    def refuse(self, what, done, code, words):
        self.report.expect(done[0] == code and words in done[-1],
                           f"{what}: expected exit {code} and '{words}', found {done[0]}: {done[-1]}")


def edited(table, path, edit):
    with open(table) as file:
        json_ = json.load(file)
    edit(json_)
    with open(path, "w") as file:
        json.dump(json_, file)
    return path


def check_numbers(tester, bundle, host, table):
    """By the table and without it within the bounds of a type."""
    _, expected, _ = tester.train(host)
    for options in ["--gemm-table", table], []:
        code, found, said = tester.train(bundle, *options)
        errors = [max(map(relative, expected[i], found[i])) for i in (0, 1)] if code == 0 else [1, 1]
        tester.report.expect(len(found[0]) == STEPS and errors[0] <= BOUNDS["bf16"][0]
                             and errors[1] <= BOUNDS["bf16"][1] and not said,
                             f"{options}: exit {code}, losses and norms off by {errors}: {said}")


def check_table(tester, table, done):
    """One row for each product that is said, each with times and an algorithm."""
    with open(table) as file:
        rows = json.load(file)["products"]
    said = [line for line in done.stdout.splitlines() if "TFLOP/s" in line]
    good = [row for row in rows if 0 < row["us"] <= row["first_us"] and len(row["algorithm"]) == 128]
    # Of qkv, of 128 by 128 elements (out, up and down) and of the logits, each forward, to inputs
    # and to weights; of up forward with GELU, in training with what that is of.
    tester.report.expect(len(rows) == len(said) == len(good) == 11,
                         f"tune: {len(rows)} products, {len(said)} of them said, {len(good)} timed")


def check_refusals(tester, bundle, host, table):
    run = lambda file, of=bundle: tester.train(of, "--gemm-table", file)
    other = lambda name, edit: edited(table, tester.path(f"table-{name}"), edit)
    gpu = other("gpu", lambda json_: json_.update(gpu="another"))
    tester.refuse("another GPU", run(gpu), USAGE, "expected a table for NVIDIA H100")
    library = other("library", lambda json_: json_.update(cublaslt=130000))
    tester.refuse("another library", run(library), USAGE, "found one for NVIDIA H100 80GB HBM3 and 13.0.0")
    expected = [(True, False, False), (True, True, False), (True, True, True)]
    with open(table) as file:
        rows = [tuple(row[key] for key in ("bias", "gelu", "aux")) for row in json.load(file)["products"]]
    tester.report.expect(sorted(filter(any, rows)) == expected,
                         f"expected one row of each of the epilogues {expected}, found {rows}")
    older = other("older", lambda json_: json_.update(gemm_table=1))
    tester.refuse("an older form", run(older), INPUT, "expected a table of form 2")
    plain = other("plain", lambda json_: json_.update(products=[row for row in json_["products"] if not row["aux"]]))
    tester.refuse("no product with aux", run(plain), USAGE, "with bias, with GELU and what it is of")
    short = other("short", lambda json_: json_["products"].pop())
    tester.refuse("a product less", run(short), USAGE, "expected all products of the program")
    tester.refuse("a product less", run(short), USAGE, "bytes of scratch: none")

    def spoil(json_):
        json_["products"][0]["m"] = -1
        json_["products"][1]["algorithm"] = "x"
        json_["products"].append(json_["products"][2])

    said = run(other("spoilt", spoil))
    for words in "products[0]: 'm': expected", "expected 128 digits of base 16", "each product once":
        tester.refuse("a spoilt table", said, INPUT, words)
    nothing = other("nothing", lambda json_: [row.update(algorithm="f" * 128) for row in json_["products"]])
    tester.refuse("no algorithms", run(nothing), USAGE,
                  "bytes of scratch: an algorithm that cuBLASLt does not take")
    tester.refuse("for a CPU", run(table, host), USAGE, "expected a bundle for GPUs")
    tester.refuse("no table", run(tester.path("none")), INPUT, "none")
    for what, words, code, expected in (
            ("a bundle of the CPU", [host, "-o", tester.path("t")], USAGE,
             "--algorithms: expected bundles for GPUs"),
            ("into the bundle", [bundle, "-o", os.path.join(bundle, "t")], USAGE, "-o"),
            ("a GPU too many", [bundle, "-o", tester.path("t"), "--device", "1"], INFEASIBLE, "--device 1")):
        done = tester.tune(*words)
        tester.refuse(f"tune, {what}", (done.returncode, done.stderr), code, expected)


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        bundle, host = tester.compile("gpu", "--target", "cuda:sm_90a"), tester.compile("cpu")
        table = tester.path("table.json")
        done = tester.tune(bundle, "-o", table)
        if done.returncode:
            raise Failed(done.stderr)
        check_table(tester, table, done)
        check_numbers(tester, bundle, host, table)
        check_refusals(tester, bundle, host, table)
    return report.finish("products of bundles for GPUs, tuned")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
