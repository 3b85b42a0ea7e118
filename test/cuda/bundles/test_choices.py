#!/usr/bin/env python3
"""All ranks go by one choice of algorithms, whatever their libraries prefer.

usage: test_choices.py BIN_DIR STAND_INS

A tiny model with sums of 2,048 terms, of which cuBLASLt's stand-in has algorithms that add in
different orders, runs on two ranks. Where the heuristics of one rank answer in the opposite order,
no bit changes, as the other rank's choice counts: the lowest rank's that has the product. The header of
the log has the choices as a table, by which a run repeats them. A rank whose library lacks an
algorithm, or is another version, says so before the first step.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "integration"))

from layouts import Layout
from run_layout import Failed, Mtc, Report
from small_spec import small_spec

INFEASIBLE, USAGE, COMMUNICATION = 4, 2, 14
SEQ, SAMPLES = 8, 256  # 2,048 tokens in a microbatch
TINY = {"name": "tiny", "vocab": 28, "padded": 32, "hidden": 8, "heads": 1, "ffn": 8,
        "longest": SEQ, "norm": "layer_norm", "dropout": 0, "qkv": "fused"}


class Tester:
    def __init__(self, mtc, report, stand_ins, folder):
        self.mtc, self.report, self.stand_ins, self.folder = mtc, report, stand_ins, folder
        self.data = self.path("data")
        with open(self.data, "wb") as file:
            file.write(bytes(i * i % 27 for i in range(8 * SEQ * SAMPLES)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, layout, layers):
        bundle, spec = self.path(name), self.path("tiny.toml")
        with open(spec, "w") as file:
            file.write(small_spec(tied=False, layers=layers, **TINY))
        self.mtc.compile(spec, layout, bundle, ["--target", "cuda:sm_90"], batch=layout.micro_batch * layout.dp)
        return bundle

    def train(self, bundle, differs="", *options, pipe=None):
        """(exit code, what was said, header and steps of the log, the parameters' bytes); no more than the
        first two where the log goes into a pipe."""
        file_log, saved, said = (self.path(name) for name in ("log", "saved", "said"))
        log = pipe or file_log
        for file in (file_log, saved, said):
            if os.path.exists(file):
                os.remove(file)
        done = subprocess.run(
            [self.mtc.program, "run", bundle, "--quiet", "--data", self.data, "--data-type", "u8", "--steps", "1",
             "--warmup", "1", "--log", log, "--save", saved, *options], capture_output=True, text=True, timeout=120,
            env=dict(os.environ, LD_LIBRARY_PATH=self.stand_ins, MTC_STANDIN_ALLOW="duplicate_gpu",
                     MTC_STANDIN_REPORT=said, MTC_STANDIN_BLAS_DIFFERS=differs))
        if done.returncode or pipe:
            return done.returncode, done.stderr, None, None, None
        self.report.expect(not os.path.exists(said), f"{differs}: the stand-ins say something")
        with open(log) as file:
            header, *steps = map(json.loads, file)
        with open(saved, "rb") as file:
            parameters = file.read()
        return 0, done.stderr, header, [(row["loss"], row["grad_norm"]) for row in steps], parameters


def algorithms(header):
    """By product, all that tells it from others."""
    return {tuple(value for key, value in row.items() if key not in ("algorithm", "us", "first_us")): row["algorithm"]
            for row in header["gemm_table"]["products"]}


def check_bits(tester):
    """Two ranks of one program."""
    bundle = tester.compile("dp", Layout(dp=2, micro_batch=SAMPLES), layers=1)
    plain = tester.train(bundle)
    found = tester.train(bundle, "1:reversed")
    tester.report.expect(found[0] == 0 and found[3:] == plain[3:],
                         f"another order on rank 1: expected {plain[3]}, found {found[3]}: {found[1]}")
    other = tester.train(bundle, "0:reversed", "--comm", "shm")
    tester.report.expect(other[0] == 0 and other[4] != plain[4],
                         "another order on rank 0: expected other bits, or this test shows nothing")
    table = tester.path("table.json")
    with open(table, "w") as file:
        json.dump(plain[2]["gemm_table"], file)
    again = tester.train(bundle, "0:reversed", "--gemm-table", table)
    tester.report.expect(again[0] == 0 and again[3:] == plain[3:] and algorithms(again[2]) == algorithms(plain[2]),
                         f"by the table of the log: expected {plain[3]}, found {again[3]}: {again[1]}")
    check_refusals(tester, bundle)
    check_pipe(tester, bundle)


def check_refusals(tester, bundle):
    for differs, code, pattern in (
            ("1:fewer", INFEASIBLE, r"error: rank 1: expected rank 1, NVIDIA H100 .* with cuBLASLt 13\.1\.0, to compute the "
             r"product a.* x b.*, m \d+, n \d+, k \d+.*, by the algorithm of rank 0, .*MTC_CUDA_GEMM=own"),
            ("1:older", COMMUNICATION,
             r"expected one version of cuBLASLt, found 13\.1\.0 on rank 0 and 13\.0\.99 on rank 1; install the same")):
        found = tester.train(bundle, differs)
        tester.report.expect(found[0] == code and re.search(pattern, found[1]),
                             f"{differs}: expected exit {code} and '{pattern}', found {found[0]}: {found[1]}")


def check_bare(tester):
    """A rank alone whose library has no algorithm says what the library said."""
    found = tester.train(tester.compile("alone", Layout(micro_batch=2), layers=1), "0:bare")
    pattern = (r"expected an algorithm of cuBLASLt for the product .*, found none: cublasLtMatmulAlgoGetHeuristic: "
               r"CUBLAS_STATUS_NOT_SUPPORTED .*MTC_CUDA_GEMM=own")
    tester.report.expect(found[0] == INFEASIBLE and re.search(pattern, found[1]),
                         f"no algorithm: expected exit {INFEASIBLE} and '{pattern}', found {found[0]}: {found[1]}")


def check_pipe(tester, bundle):
    """A pipe that nobody reads has no room for a header with all choices: it comes without them."""
    pipe = tester.path("pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code, said, *_ = tester.train(bundle, pipe=pipe)
    header = json.loads(os.read(reader, 1 << 16).split(b"\n")[0])
    tester.report.expect(code == 0 and "plan" in header and "gemm_table" not in header, f"a log in a pipe: {code}, {said}, {header}")


def check_stages(tester):
    """The rank of the last stage logs; products of a layer are those of rank 0, the head's its own."""
    bundle = tester.compile("pp", Layout(pp=2, micro_batch=2), layers=2)
    plain, other = (algorithms(tester.train(bundle, differs)[2]) for differs in ("", "1:reversed"))
    changed = [product for product in plain if plain[product] != other.get(product)]
    tester.report.expect(plain.keys() == other.keys() and len(plain) > len(changed) > 0
                         and all(TINY["padded"] in product[:3] for product in changed),
                         f"another order on the last stage: of {len(plain)} products {changed} are others")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        check_bits(tester)
        check_stages(tester)
        check_bare(tester)
    return report.finish("one choice of algorithms on all ranks")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
