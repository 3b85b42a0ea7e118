"""Overrides of shardings compile, and train as one rank does.

    test_overrides.py BIN_DIR [--count N] [--replicas N] [--seed 1] [TEXT]

For every parameter and every dimension of it that may be split over tp, and for tables of
many such rules, on several specs, over tp 2, 3 and 4, without and with sequence
parallelism, and the same over dp, with every ZeRO (overrides.py lists them): `mtc compile` ends well, and losses, norms and the
gradients of step 1 are those of one rank to the bounds of the layout matrix; or it
rejects the strategy with exit code 4 and a rule of REJECTIONS. Nothing ends as an
internal error. --count of those over tp, --replicas of those over dp; without either all of
them, by hand. TEXT: only those with it in their names.
"""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import safetensors
from layouts import Layout
from overrides import over_replicas, overrides, parameters_of
from run_layout import Failed, Mtc, Report, relative
from test_matrix import BOUNDS

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "mutation"))
from bench import write_tokens
from plans import GLOBAL_BATCH, Plan

INFEASIBLE = 4
STEPS = 6
# All that cannot be: a dimension that tp, or dp, does not divide; and two mesh axes in one
# place.
REJECTIONS = re.compile(r"expected (qkv|head_dim|max_seq) % [td]p == 0, found .*; nearest: |"
                        r"expected one mesh axis that splits a (parameter|logical axis)")
# Sizes that tp 3 divides, among them the stack of query, key and value.
THREES = {"padded_vocab = 32": "padded_vocab = 36", "hidden = 16": "hidden = 24",
          "heads = 4": "heads = 6", "ffn = 32": "ffn = 48", "max_seq = 8": "max_seq = 12"}


@dataclass(frozen=True)
class Spec:
    plan: Plan
    extents: tuple = (2, 4)  # of tp
    sizes: dict = field(default_factory=dict)

    def text(self):
        text = self.plan.spec()
        for old, new in self.sizes.items():
            assert old in text, old
            text = text.replace(old, new)
        return text


# Few layers and small sizes that tp 4 divides. Separate q, k, v have parameters that a
# fused one lacks, an untied head a second table.
SPECS = {"fused": Spec(Plan(Layout(), tied=True)),
         "fused-untied": Spec(Plan(Layout(), tied=False)),
         "separate": Spec(Plan(Layout(), qkv="separate", norm="rms_norm")),
         "threes": Spec(Plan(Layout(), tied=False), (2, 3), THREES)}
# How the rest is spread, in turn: alone, over stages, over replicas with ZeRO,
# over the sequence.
SPREADS = (Layout(micro_batch=1), Layout(pp=2, micro_batch=1),
           Layout(dp=2, zero=1, micro_batch=1), Layout(pp=2, dp=2, micro_batch=1),
           Layout(cp=2, micro_batch=1))
# Over dp: alone, as shards and with replicas in one plan, beside tp, over stages, beside
# the sequence.
REPLICAS = (Layout(dp=2, micro_batch=1), Layout(dp=2, zero=1, tp=2, micro_batch=1),
            Layout(dp=2, zero=2, pp=2, micro_batch=1), Layout(dp=4, zero=1, micro_batch=1),
            Layout(dp=2, cp=2, zero=2, micro_batch=1),
            Layout(dp=2, tp=2, sp=True, micro_batch=1), Layout(dp=4, zero=2, micro_batch=1))


class Case:
    def __init__(self, spec, override, layout):
        self.spec, self.override, self.layout = spec, override, layout

    @property
    def name(self):
        return f"{self.spec} {self.layout.name} {self.override.name}"


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.bounds, self.reference = BOUNDS["f32"], {}
        self.trained = self.rejected = 0
        write_tokens(self.path("tokens.bin"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def spec_file(self, spec):
        return self.path(f"{spec}.toml")

    def prepare(self, spec):
        """Writes the spec, trains it on one rank; gives its parameters."""
        with open(self.spec_file(spec), "w") as file:
            file.write(SPECS[spec].text())
        single = Layout(micro_batch=GLOBAL_BATCH)
        ir = self.path(f"{spec}.mlir")
        self.mtc.call("compile", self.spec_file(spec), *single.options(GLOBAL_BATCH),
                      "--compile-to", "import", "-o", ir)
        bundle = self.path(f"{spec}-single")
        self.mtc.call("compile", self.spec_file(spec), *single.options(GLOBAL_BATCH),
                      "-o", bundle)
        self.reference[spec] = self.train(bundle)
        with open(ir) as file:
            return parameters_of(file.read())

    def train(self, bundle):
        out = bundle + "-run"
        log = self.mtc.run(bundle, ["--data", self.path("tokens.bin"), "--data-type", "u8",
                                    "--steps", STEPS, "--warmup", 2],
                           out, ("threads", "--strict"), dumps=("grads",))
        gradients = safetensors.read(os.path.join(out, "grads.safetensors"))
        shutil.rmtree(out)
        shutil.rmtree(bundle)
        return ([s["loss"] for s in log], [s["grad_norm"] for s in log],
                {name: tensor.values() for name, tensor in gradients.items()})

    def compile(self, number, case):
        """The bundle; None if the strategy was rejected, or something is wrong."""
        strategy, bundle = self.path(f"{number}.toml"), self.path(f"bundle{number}")
        with open(strategy, "w") as file:
            file.write(case.override.strategy())
        done = self.mtc.call("compile", self.spec_file(case.spec), "--strategy", strategy,
                             *case.layout.options(GLOBAL_BATCH), "--jobs", 2, "-o", bundle,
                             check=False)
        if done.returncode == 0:
            return bundle
        isRejected = (done.returncode == INFEASIBLE and
                      REJECTIONS.search(done.stderr) is not None)
        self.rejected += isRejected
        self.report.expect(isRejected, f"{case.name}: expected a program, or exit code 4 "
                           f"and a rule of the list, found exit code {done.returncode}: "
                           f"{done.stderr.strip()[-300:]}")
        return None

    def check(self, case, bundle):
        wanted, found = self.reference[case.spec], self.train(bundle)
        self.trained += 1
        for what, bound, index in (("loss", self.bounds.losses, 0),
                                   ("norm", self.bounds.norms, 1)):
            worst = max(safetensors.finite(relative(w, f))
                        for w, f in zip(wanted[index], found[index]))
            self.report.expect(worst <= bound, f"{case.name}: a {what} is {worst:.2e} from "
                               f"one rank's, allowed {bound}")
        ratio, name = safetensors.worst_gradient(wanted[2], found[2], self.bounds.gradients,
                                                 self.bounds.floor)
        self.report.expect(ratio <= 1, f"{case.name}: the gradient of {name} is "
                           f"{ratio * self.bounds.gradients:.2e} from one rank's, allowed "
                           f"{self.bounds.gradients}")


def all_cases(tester, seed):
    cases = []
    for name, spec in SPECS.items():
        low, high = spec.extents
        parameters = tester.prepare(name)
        for override in over_replicas(parameters, seed) * (high == 4):
            cases.append(Case(name, override, REPLICAS[len(cases) % len(REPLICAS)]))
        for override in overrides(parameters, seed):
            for tp, sp in ((low, False), (high, True), (low, True), (high, False)):
                # Five of them, four of these: another one with each override.
                spread = SPREADS[len(cases) % len(SPREADS)]
                cases.append(Case(name, override, replace(spread, tp=tp, sp=sp)))
    return cases


def chosen(cases, options):
    rng = random.Random(options.seed)
    return [case for over, count in (("tp", options.count), ("dp", options.replicas))
            for case in rng.sample([case for case in cases if case.override.over == over],
                                   count)]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin")
    parser.add_argument("text", nargs="?", default="")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--replicas", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options, report = read_options(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, folder)
        cases = all_cases(tester, options.seed)
        # A list that shrank would shrink the test with it.
        report.expect(len(cases) > 2000, f"expected more than 2000 overrides, found {len(cases)}")
        cases = [case for case in cases if options.text in case.name]
        if options.count or options.replicas:
            cases = chosen(cases, options)
        with ThreadPoolExecutor(2) as pool:
            bundles = pool.map(tester.compile, range(len(cases)), cases)
            for case, bundle in zip(cases, bundles):
                if bundle:
                    try:
                        tester.check(case, bundle)
                    except Failed as failure:
                        report.expect(False, f"{case.name} runs: {failure}")
    return report.finish(f"{len(cases)} overrides: {tester.trained} trained, "
                         f"{tester.rejected} rejected")


if __name__ == "__main__":
    sys.exit(main())
