#!/usr/bin/env python3
"""Documents: losses without their last tokens, positions and attention that begin again.

usage: test_documents.py BIN_DIR GOLDEN_DIR [--all]

  * Against PyTorch (golden/documents): 20 steps of each variant, in one process and in eight,
    where each axis splits something: replicas count the tokens of others, ranks along cp have
    parts of samples, several stages know documents. Evaluations have the loss of step 1. In
    each step microbatches, and replicas, differ in how many tokens are in the loss.
  * Layouts of a class have the same bits (N4).
  * A corpus says where documents end, and gives what a token EOD in a flat file gives.
  * Steps of a smaller global batch count their own tokens.
  * What is not known is an error, and what changes nothing is said.

Each variant has a layout here; --all, by command, takes each variant in four, and more
schedules, ZeRO, recomputation and layers in parts over the replicas.
"""

import json
import os
import sys
import tempfile

import safetensors
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
ONE = Layout()
EIGHT = Layout(tp=2, pp=2, dp=2, zero=1)
PARTS = Layout(tp=2, cp=2, pp=2, sp=True, recompute="selective")
REPLICAS = Layout(cp=2, dp=2, pp=2, zero=2)
# What the tests run: no axis of the data without a mean of each kind.
CASES = [("masked", REPLICAS), ("masked-per-token", EIGHT), ("positions", PARTS),
         ("attention", PARTS), ("all", EIGHT), ("all-per-token", REPLICAS)]
# What is all of it, in layouts of one class each: stages, schedules, what is saved again.
CLASSES = [[ONE, Layout(pp=4, schedule="zb-h1")]]
MORE = [[Layout(dp=2, zero=2, bucket=20_000)],
        [ONE, Layout(pp=2, schedule="interleaved-1f1b", chunks=2, recompute="full"),
         Layout(pp=4, schedule="gpipe")],
        [Layout(cp=2, pp=2), Layout(cp=2)]]

# Layers in parts over the replicas bring their samples together, and their documents.
OVER_DP = ("--shard.ffn", "dp", "--shard.heads", "dp", "--shard.kv-heads", "dp")
OVER_CASES = [("all", Layout(dp=2)), ("all-per-token", Layout(dp=2, pp=2, zero=1)),
              ("attention", Layout(cp=2, dp=2))]


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

    def compile(self, variant, layout, batches="16", more=()):
        bundle = self.path("-".join((variant, layout.name, batches, *more)))
        if not os.path.exists(bundle):
            options = [option for key, option in OPTIONS.items()
                       if self.golden["variants"][variant].get(key)]
            self.mtc.call("compile", self.golden["spec"], *layout.options(batches), *options,
                          *more, "--jobs", 2, "-o", bundle)
        return bundle

    def tokens(self):
        return ["--data", self.data, "--data-type", "u8", "--eod", self.golden["eod"],
                "--order", "sequential"]

    def train(self, bundle, data, steps=None, comm=("shm",), extra=(), dumps=()):
        golden = self.golden
        recipe = [*data, "--steps", steps or golden["steps"], "--lr", golden["max_lr"],
                  "--min-lr", golden["min_lr"], "--warmup", golden["warmup"]]
        log = self.mtc.run(bundle, recipe, self.path("run"), comm=comm,
                           dumps=dumps, extra=("--init-from", self.weights, *extra))
        return {key: [step[key] for step in log] for key in ("loss", "grad_norm")}

    def compare(self, variant, layout, comm, more=()):
        found = self.train(self.compile(variant, layout, more=more), self.tokens(), comm=comm)
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


def check_goldens(tester, everything):
    cases = CASES
    if everything:
        cases = [(variant, layout) for variant in tester.golden["variants"]
                 for layout in (ONE, EIGHT, PARTS, REPLICAS)]
        for variant, layout in OVER_CASES:
            tester.compare(variant, layout, ("shm",), OVER_DP)
    for number, (variant, layout) in enumerate(cases):
        tester.compare(variant, layout, ("threads", "shm")[number % 2: number % 2 + 1])


def check_counts(tester):
    """Were they equal, all means would be the same."""
    golden, (replicas, seq) = tester.golden, (REPLICAS.dp, 32)
    micro, batch = golden["micro_batch"], golden["global_batch"]
    with open(tester.data, "rb") as file:
        tokens = file.read()
    for step in range(golden["steps"]):
        starts = range(step * batch * seq, (step + 1) * batch * seq, micro * seq)
        counts = [micro * seq - tokens.count(golden["eod"], at, at + micro * seq)
                  for at in starts]
        sums = [sum(counts[replica::replicas]) for replica in range(replicas)]
        tester.report.expect(len(set(counts)) > 1 and len(set(sums)) > 1,
                             f"step {step + 1}: expected microbatches and replicas to differ "
                             f"in tokens of the loss, found {counts}")


def check_evaluation(tester, variant, layout):
    done = tester.mtc.call("run", tester.compile(variant, layout), "--eval", 1, "--init-from",
                           tester.weights, *tester.tokens(), "--quiet")
    error = relative(tester.golden["variants"][variant]["losses"][0],
                     json.loads(done.stdout)["eval_loss"])
    tester.report.expect(error <= ALLOWED, f"{variant} at {layout.name}: the loss of eval is "
                         f"{error:.1e} from that of step 1, allowed {ALLOWED}")


def check_classes(tester, classes):
    for layouts in classes:
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
    bundle = tester.compile("all", EIGHT)
    corpus = tester.train(bundle, ("--data", tester.path("corpus"), "--order", "sequential"))
    flat = tester.train(bundle, tester.tokens())
    tester.report.expect(corpus == flat, "a corpus gives other losses than a flat file in "
                         "which the same documents end with a token")


def check_batches(tester):
    """One bundle for two batches: a step of the smaller one has the bits that it has alone,
    though without a number of tokens both have the same fragments."""
    found = []
    for batches, told in (("8", ()), ("16,8", ("--global-batch-size", 8))):
        bundle = tester.compile("all", EIGHT, batches)
        log = tester.train(bundle, tester.tokens(), 2, extra=told, dumps=("logits",))
        found.append((log, safetensors.digest(safetensors.read(
            tester.path("run/logits.safetensors")))))
    tester.report.expect(found[0] == found[1], f"steps of 8 samples: expected {found[0]}, "
                         f"found {found[1]}")


def check_errors(tester):
    call, bundle = tester.mtc.call, tester.compile("all", ONE)
    for options, words in (((), "expected --eod TOKEN with a flat file"),
                           (("--eod", 250), "--eod 250: expected a token, 0 to 249, or -1")):
        done = call("run", bundle, "--data", tester.data, "--data-type", "u8", "--steps", 1,
                    *options, check=False)
        tester.report.expect(done.returncode == 2 and words in done.stderr,
                             f"expected exit 2 and '{words}', found {done.returncode}: "
                             f"{done.stderr}")
    done = call("compile", "gpt2-nano-nodrop", "--gbs", 4, "--loss-per-token", "-o",
                tester.path("idle"))
    words = "loss_per_token: no token is left out"
    tester.report.expect(words in done.stdout + done.stderr,
                         f"expected '{words}', found {done.stderr}")
    done = call("run", tester.path("idle"), *tester.tokens(), "--steps", 1, "--quiet")
    words = "--eod 249 has no effect"
    tester.report.expect(words in done.stderr, f"expected '{words}', found {done.stderr}")


def main():
    report, everything = Report(), "--all" in sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, folder, sys.argv[2])
        check_counts(tester)
        check_goldens(tester, everything)
        check_evaluation(tester, "all-per-token", REPLICAS)
        check_classes(tester, CLASSES + MORE if everything else CLASSES)
        check_corpus(tester)
        check_batches(tester)
        check_errors(tester)
    return report.finish("documents")


if __name__ == "__main__":
    sys.exit(main())
