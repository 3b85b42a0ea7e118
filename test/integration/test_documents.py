#!/usr/bin/env python3
"""Documents: losses without their last tokens, positions and attention that begin again.

usage: test_documents.py BIN_DIR GOLDEN_DIR

  * Against PyTorch (golden/documents): 20 steps of each variant, in one process and in eight,
    where each axis splits something: replicas count the tokens of others, ranks along cp have
    parts of samples, several stages know documents.
  * Layouts of a class have the same bits (N4).
  * A corpus says where documents end, and gives what a token EOD in a flat file gives.
  * What is not known is an error, and what changes nothing is said.
"""

import json
import os
import shutil
import sys
import tempfile

from indexed import write_corpus
from layouts import Layout
from run_layout import Mtc, Report, relative

# The losses are means of some 480 terms of fp32, and each step adds the error of the
# weights; PyTorch's own fp32 is up to 5e-7 away (float32_relative_error). The two ways to
# take the mean are 3e-4 apart in step 2 already.
ALLOWED = 1e-5
OPTIONS = {"mask_loss": "--eod-mask-loss", "per_token": "--calculate-per-token-loss",
           "reset_positions": "--reset-position-ids",
           "reset_attention": "--reset-attention-mask"}
BUCKET = 20_000
ONE = Layout()
EIGHT = Layout(tp=2, pp=2, dp=2, zero=1)
PARTS = Layout(tp=2, cp=2, pp=2, sp=True, recompute="selective")
# What is all of it, in layouts of one class each: stages, schedules, what is saved again.
CLASSES = [[Layout(dp=2, zero=2, bucket=BUCKET)],
           [Layout(pp=2, schedule="interleaved-1f1b", chunks=2, recompute="full"),
            Layout(pp=4, schedule="zb-h1"), ONE],
           [Layout(cp=2, pp=2), Layout(cp=2)]]


class Tester:
    def __init__(self, mtc, report, folder, goldens):
        self.mtc, self.report, self.folder = mtc, report, folder
        goldens = os.path.join(goldens, "")
        with open(os.path.join(goldens, "documents", "expected.json")) as file:
            self.golden = json.load(file)
        self.data = os.path.join(goldens, "documents", "data.bin")
        self.weights = os.path.join(goldens, "gpt2", "tied-1", "weights.safetensors")

    def path(self, name):
        return os.path.join(self.folder, name)

    def train(self, variant, layout, data=(), comm=("shm",)):
        bundle, golden = self.path("bundle"), self.golden
        shutil.rmtree(bundle, ignore_errors=True)
        options = [option for key, option in OPTIONS.items()
                   if golden["variants"][variant].get(key)]
        self.mtc.compile(golden["spec"], layout, bundle, options)
        data = data or ("--data", self.data, "--data-type", "u8", "--eod", golden["eod"])
        recipe = ["--order", "sequential", "--steps", golden["steps"], "--lr",
                  golden["max_lr"], "--min-lr", golden["min_lr"], "--warmup",
                  golden["warmup"], *data]
        log = self.mtc.run(bundle, recipe, self.path("run"), comm=comm,
                           extra=("--init-from", self.weights))
        return {key: [step[key] for step in log] for key in ("loss", "grad_norm")}

    def compare(self, variant, layout, comm):
        found = self.train(variant, layout, comm=comm)
        wanted = self.golden["variants"][variant]
        worst = {}
        for key, values in (("loss", wanted["losses"]), ("grad_norm", wanted["grad_norms"])):
            errors = [relative(a, b) for a, b in zip(values, found[key])]
            worst[key] = max(errors)
            self.report.expect(
                len(errors) == self.golden["steps"] and max(errors) <= ALLOWED,
                f"{variant} at {layout.name}: {key} is {max(errors):.1e} from PyTorch's, "
                f"allowed {ALLOWED}")
        print(f"{variant} at {layout.name}: loss within {worst['loss']:.1e}, norm within "
              f"{worst['grad_norm']:.1e}", flush=True)
        return found


def check_goldens(tester):
    for number, variant in enumerate(tester.golden["variants"]):
        for layout in (ONE, EIGHT, PARTS):
            if layout is ONE and "all" in variant:
                continue  # below, with others of its class
            tester.compare(variant, layout, ("threads", "shm")[number % 2: number % 2 + 1])


def check_classes(tester):
    for layouts in CLASSES:
        first = None
        for layout in layouts:
            found = tester.compare("all", layout, ("shm",))
            first = first or found
            tester.report.expect(found == first, f"{layout.name} differs from "
                                 f"{layouts[0].name}, expected the same bits")


def check_corpus(tester):
    """Sequences that are documents, in a sample of 33 tokens one behind the other."""
    eod = tester.golden["eod"]
    with open(tester.data, "rb") as file:
        tokens = list(file.read())
    documents, start = [], 0
    for at, token in enumerate(tokens):
        if token == eod or at + 1 == len(tokens):
            documents.append(tokens[start:at + 1])
            start = at + 1
    write_corpus(tester.path("corpus"), documents)
    corpus = tester.train("all", EIGHT, ("--data", tester.path("corpus")))
    flat = tester.train("all", EIGHT)
    tester.report.expect(corpus == flat, "a corpus gives other losses than a flat file in "
                         "which the same documents end with a token")


def check_errors(tester):
    call, bundle = tester.mtc.call, tester.path("bundle")
    for options, words in (((), "expected --eod TOKEN with a flat file"),
                           (("--eod", 250), "--eod 250: expected a token, 0 to 249, or -1")):
        done = call("run", bundle, "--data", tester.data, "--data-type", "u8", "--steps", 1,
                    *options, check=False)
        tester.report.expect(done.returncode == 2 and words in done.stderr,
                             f"expected exit 2 and '{words}', found {done.returncode}: "
                             f"{done.stderr}")
    done = call("compile", "gpt2-nano", "--gbs", 4, "--loss-per-token", "-o",
                tester.path("idle"))
    words = "loss_per_token: no token is left out"
    tester.report.expect(words in done.stdout + done.stderr,
                         f"expected '{words}', found {done.stderr}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, folder, sys.argv[2])
        check_goldens(tester)
        check_classes(tester)
        check_corpus(tester)
        check_errors(tester)
    return report.finish("documents")


if __name__ == "__main__":
    sys.exit(main())
