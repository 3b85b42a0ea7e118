"""Random strategies for random small models (random_cases.py): each trains with the
numbers of one process, or is rejected, with exit code 4, for exactly the rules that an
independent reading of them (random_rules.py) says are broken. In bf16, where rounding hides
much, a layout has the bits of the plain one of its class as well. Anything else is a bug of
mtc.

usage: test_random.py BIN_DIR [--cases N] [--first CASE] [--seed N]
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace

import safetensors
from layouts import Layout
from pairs import plain
from random_cases import mixed_case
from random_rules import TOO_SHORT, broken_rules
from run_layout import Mtc, Report, relative
from small_spec import small_spec


@dataclass(frozen=True)
class Bounds:
    """As those of test_matrix.py, of the losses of four steps and of an evaluation."""
    losses: float
    gradients: float
    floor: float


BOUNDS = {
    # Contract N5; the losses of four steps of a small model differ by less. The floor is ten
    # times as high: of a batch of few tokens the global norm is small beside the terms of a key
    # bias' gradient, whose sum is zero but for rounding (the worst of 628 strategies that
    # trained was 1.4e-10 of that norm, where N5 has 1e-10).
    "f32": Bounds(2e-6, 1e-5, 1e-4),
    # As in test_matrix.py, but that a batch has few tokens, and some gradients few elements:
    # a loss averages over 8 and more (5e-4 / sqrt(8); the worst of 500 strategies was 9e-5; one
    # of six layers beyond it has ROUNDED), and what is small beside the norm counts as 5e-2 of
    # it (the worst was 9e-3).
    "bf16": Bounds(2e-4, 3e-2, 5e-2),
    # The unit is an eighth of bf16's. Small gradients lose no digits at this scale. But the first
    # updates of Adam are as large as the rate, whatever the gradient: where it is rounding alone,
    # an element goes up in one layout and down in another, and the next samples see it. Of a
    # model of six layers five elements of 20,000 did, and its second loss was 3.1e-5 off, the
    # first one 7e-7.
    "fp16": Bounds(1e-4, 4e-3, 5e-2),
}
# Updates can amplify rounding: of six layers and 24 tokens a step one process was 3.7e-4 from
# its own loss in f32, and 2.3e-4 from that of six ranks. A loss in 16 bits may be this many times
# as far off as is allowed if in f32, where rounding hides little, the same layout holds N5.
ROUNDED = 2.5
STEPS, EOD = 4, 3


class Campaign:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.rules, self.worst = Counter(), {}
        self.data = os.path.join(folder, "data.bin")
        # Tokens of any vocabulary here.
        generator = random.Random(3)
        with open(self.data, "wb") as file:
            file.write(bytes(generator.randrange(20) for _ in range(20000)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, case):
        files = {"spec.toml": small_spec(**case.sizes), **case.files()}
        for name, text in files.items():
            with open(self.path(name), "w") as file:
                file.write(text)

    def compile(self, options):
        return self.mtc.call("compile", self.path("spec.toml"), *options, "-o",
                             self.path("bundle"), check=False)

    def train(self, case, comm):
        """Losses, of an evaluation too, and the gradients of step 1; of two lengths the
        shorter comes first, and of two batches the smaller."""
        folder, data = self.path("run"), ["--data", self.data, "--data-type", "u8"]
        if case.documents:
            data += ["--eod", EOD]
        told = self.mtc.call("run", self.path("bundle"), "--eval", 1, *data, "--comm", *comm,
                             "--quiet").stdout
        recipe = [*data, "--steps", STEPS, "--initial-loss-scale", 2 ** 12]
        if len(case.lengths) > 1:
            recipe += ["--seq", f"{case.lengths[1]}:2, {case.lengths[0]}"]
        if len(case.batches) > 1:
            most, few = case.batches  # grows behind the second step
            recipe += ["--rampup-batch-size", few, most - few, 2 * few]
        if case.has_group:
            recipe += ["--groups", "own: lr_scale 0.5, weight_decay 0.3"]
        log = self.mtc.run(self.path("bundle"), recipe, folder, comm, dumps=("grads",))
        gradients = safetensors.read(os.path.join(folder, "grads.safetensors"))
        shutil.rmtree(folder)
        shutil.rmtree(self.path("bundle"))
        return ([*(step["loss"] for step in log), json.loads(told)["eval_loss"]],
                {name: tensor.values() for name, tensor in gradients.items()})

    def rejected(self, name, done, broken):
        """The code, and that both say the same rules."""
        said = [line for line in done.stderr.splitlines() if line]
        code = 2 if broken == [TOO_SHORT] else 4
        self.report.expect(done.returncode == code,
                           f"{name}: expected exit code {code} for {broken}, found "
                           f"{done.returncode}: {done.stderr.strip()[:400]}")
        for words in broken:
            self.report.expect(any(words in line for line in said),
                               f"{name}: expected an error about '{words}', found {said}")
        for line in said:
            self.report.expect(any(words in line for words in broken),
                               f"{name}: an error that breaks no rule known here: {line}")
        self.rules.update(broken)

    def other(self, name, case, layout, comm=("shm",)):
        """The same model in another layout; None: it does not compile."""
        done = self.compile([*case.spread(layout), *case.same(self.path)])
        if self.report.expect(done.returncode == 0,
                              f"{name}: as {layout.name}: {done.stderr}"):
            return self.train(case, comm)
        return None

    def compare(self, name, case, comm):
        losses, gradients = self.train(case, comm)
        single = self.other(name, case, Layout(micro_batch=case.other_micro_batch))
        if not single:
            return
        bounds = BOUNDS[case.dtype]
        loss = max(safetensors.finite(relative(w, f)) for w, f in zip(single[0], losses))
        self.report.expect(len(losses) == STEPS + 1
                           and (loss <= bounds.losses or self.is_rounding(name, case, loss)),
                           f"{name}: a loss is {loss:.1e} from one process's")
        ratio, which = safetensors.worst_gradient(single[1], gradients, bounds.gradients,
                                                  bounds.floor)
        self.report.expect(ratio <= 1, f"{name}: the gradient of {which} is {ratio:.1f} "
                           "times as far from one process's as allowed")
        before = self.worst.get(case.dtype, (0, 0))
        self.worst[case.dtype] = (max(before[0], loss / bounds.losses), max(before[1], ratio))
        if case.dtype != "f32" and case.ascends:
            self.compare_bits(name, case, losses, gradients)

    def is_rounding(self, name, case, loss):
        """Whether a loss this far off is what 16 bits do to it (ROUNDED)."""
        if case.dtype == "f32" or loss > ROUNDED * BOUNDS[case.dtype].losses:
            return False
        exact = replace(case, dtype="f32", narrow_sums=False)
        self.write(exact)
        done = self.compile(exact.options(self.path))
        if not self.report.expect(done.returncode == 0, f"{name}: in f32: {done.stderr}"):
            return False
        self.compare(f"{name} in f32", exact, ("threads",))
        self.write(case)
        return True

    def compare_bits(self, name, case, losses, gradients):
        """Contract N4, of losses and gradients of step 1."""
        found = self.other(name, case, plain(case.layout), ("threads",))
        if found:
            self.report.expect(found[0] == losses, f"{name}: expected the losses {found[0]} of "
                               f"{plain(case.layout).name}, found {losses}")
            differ = [each for each in gradients if gradients[each] != found[1][each]]
            self.report.expect(not differ, f"{name}: gradients have other bits than of "
                               f"{plain(case.layout).name}: {differ[:4]}")

    def run(self, number, case):
        """What became of a case, in a word."""
        name = f"case {number} ({' '.join(case.options(lambda file: file))})"
        self.write(case)
        broken, done = broken_rules(case), self.compile(case.options(self.path))
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
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    mtc, report, start, ends = Mtc(), Report(), time.monotonic(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(mtc, report, folder)
        for number in range(options.first, options.first + options.cases):
            case = mixed_case(random.Random(f"{options.seed}.{number}"))
            ends[campaign.run(number, case)] += 1
            if number % 50 == 49:
                print(f"up to case {number}, {time.monotonic() - start:.0f} s",
                      flush=True)
        for words, count in sorted(campaign.rules.items()):
            print(f"{count:4} rejected by: {words}")
    for dtype, (loss, gradient) in sorted(campaign.worst.items()):
        print(f"{dtype}: worst loss {loss:.2f}, worst gradient {gradient:.2f} of what is allowed")
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return report.finish(f"random strategies, seed {options.seed}: {told}; "
                         f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
