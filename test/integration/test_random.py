"""Random strategies for random small models (random_cases.py): each trains with the
numbers of one process, or is rejected, with exit code 4, for exactly the rules that an
independent reading of them says are broken. Anything else is a bug of mtc.

usage: test_random.py BIN_DIR [--cases N] [--seed N] [--only CASE]
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter

import safetensors
from layouts import Layout
from random_cases import broken_rules, random_case
from run_layout import Mtc, Report, relative
from small_spec import small_spec

# Contract N5 for f32; the losses of four steps of a small model differ by less.
LOSSES, GRADIENTS, FLOOR = 2e-6, 1e-5, 1e-5
STEPS = 4
MOST_RANKS = 12


class Campaign:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = os.path.join(folder, "data.bin")
        # Tokens of any vocabulary here.
        generator = random.Random(3)
        with open(self.data, "wb") as file:
            file.write(bytes(generator.randrange(20) for _ in range(20000)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, options):
        return self.mtc.call("compile", self.path("spec.toml"), *options, "-o",
                             self.path("bundle"), check=False)

    def train(self, comm):
        """Losses, and the gradients of step 1."""
        folder = self.path("run")
        log = self.mtc.run(self.path("bundle"), ["--data", self.data, "--data-type", "u8",
                                                 "--steps", STEPS], folder, comm,
                           dumps=("grads",))
        gradients = safetensors.read(os.path.join(folder, "grads.safetensors"))
        shutil.rmtree(folder)
        shutil.rmtree(self.path("bundle"))
        return ([step["loss"] for step in log],
                {name: tensor.values() for name, tensor in gradients.items()})

    def rejected(self, name, done, broken):
        """The code, and that both say the same rules."""
        said = [line for line in done.stderr.splitlines() if line]
        self.report.expect(done.returncode == 4,
                           f"{name}: expected exit code 4 for {broken}, found "
                           f"{done.returncode}: {done.stderr.strip()[:400]}")
        for words in broken:
            self.report.expect(any(words in line for line in said),
                               f"{name}: expected an error about '{words}', found {said}")
        for line in said:
            self.report.expect(any(words in line for words in broken),
                               f"{name}: an error that breaks no rule known here: {line}")

    def compare(self, name, case, comm):
        losses, gradients = self.train(comm)
        single = Layout(micro_batch=case.batch)
        done = self.compile([*single.options(case.batch), "--seq", str(case.seq)])
        if not self.report.expect(done.returncode == 0, f"{name}: one process: {done.stderr}"):
            return
        wanted, expected = self.train(("shm",))
        worst = max(safetensors.finite(relative(w, f)) for w, f in zip(wanted, losses))
        self.report.expect(len(losses) == STEPS and worst <= LOSSES,
                           f"{name}: a loss is {worst:.1e} from one process's")
        ratio, which = safetensors.worst_gradient(expected, gradients, GRADIENTS, FLOOR)
        self.report.expect(ratio <= 1, f"{name}: the gradient of {which} is {ratio:.1f} "
                           "times as far from one process's as allowed")

    def run(self, number, case):
        """What became of a case, in a word."""
        name = f"case {number} ({' '.join(case.options())})"
        with open(self.path("spec.toml"), "w") as file:
            file.write(small_spec(**case.sizes))
        broken, done = broken_rules(case), self.compile(case.options())
        if broken:
            self.rejected(name, done, broken)
            return "rejected"
        if not self.report.expect(done.returncode == 0, f"{name}: expected to compile, found "
                                  f"{done.returncode}: {done.stderr.strip()[:400]}"):
            return "not compiled"
        try:
            self.compare(name, case, (("shm",), ("threads", "--strict"))[number % 2])
        except Exception as failure:
            self.report.expect(False, f"{name}: {failure}")
        return "trained"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    mtc, report, start, ends = Mtc(), Report(), time.monotonic(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(mtc, report, folder)
        numbers = range(options.cases) if options.only is None else [options.only]
        for number in numbers:
            generator, case = random.Random(f"{options.seed}.{number}"), None
            while case is None or case.layout.ranks > MOST_RANKS:
                case = random_case(generator)
            ends[campaign.run(number, case)] += 1
            if number % 50 == 49:
                print(f"{number + 1} of {options.cases}, {time.monotonic() - start:.0f} s",
                      flush=True)
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return report.finish(f"random strategies, seed {options.seed}: {told}; "
                         f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
