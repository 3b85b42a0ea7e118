"""The layout matrix: 122 layouts, tied and untied, trained with dropout.

Contracts, for each model:
  N1  initial weights have the same bytes in every layout;
  N3  every step takes the same samples: others move a loss by 1e-3 and more, which
      the bounds of N5 see;
  N4  layouts of equal tp, cp, dp and micro-batch, and those of them with ZeRO-2 among
      themselves, have the same losses, norms, step 1
      gradients and final parameters, to the bit; so have `shm` and `threads`;
  N5  all layouts agree with one rank and one microbatch to the bounds of the type
      that is computed in (BOUNDS).

usage: test_matrix.py BIN_DIR [--dtype bf16|fp16] [--turns [N]] [--gpu STAND_INS [--sample N] [--seed N]]
       [part of a layout's name]

With --gpu STAND_INS programs for a GPU, under its stand-ins, are held to one process of the CPU:
as many as --sample says, by --seed, among them sequence parallelism, chunks and overlap.

With --turns every Nth layout is trained (2 if nothing is said), and these take turns with the transports and
with the models, of which each has one. N4 then compares layouts of one class across
transports, not each layout with itself.

A part of it, as tools/sanitize runs it: --layouts NAME..., --comm threads, --steps N,
--spec NAME; with one transport, N4 between `shm` and `threads` is not looked at.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import corpus
import precision
import safetensors
from gpu_runs import GpuMtc
from layouts import SINGLE, Layout, matrix
from run_layout import Failed, Mtc, Report, relative



@dataclass(frozen=True)
class Bounds:
    """Relative, against one rank: of each step's loss and gradient norm, and of each
    gradient of step 1: |g - g'| <= gradients * max(|g|, floor * global norm)."""
    specs: tuple
    steps: int
    losses: float
    norms: float
    gradients: float
    floor: float
    recipe: tuple = ()  # what the type wants


BOUNDS = {
    # The bounds of contract N5, of its text.
    "f32": Bounds(("gpt2-nano", "gpt2-nano-untied"), 50, 2e-6, 1e-5, 1e-5, 1e-5),
    # A layout rounds other sums to bf16 (unit 2^-9 = 2e-3): partial sums over tp once
    # more, dropout and bias elsewhere. Some 30 roundings lie between a weight and the
    # loss and back; with random signs they give 2e-3 * sqrt(30) = 1.1e-2 of a gradient
    # (1.2e-2 is the worst that was measured; bound 3e-2). The global norm averages over
    # 52 tensors (1.1e-3; bound 4e-3), the loss over 512 tokens, 5e-4 / sqrt(512) =
    # 2e-5 (3.1e-5; bound 1.5e-4).
    "bf16": Bounds(("gpt2-nano",), 20, 1.5e-4, 4e-3, 3e-2, 1e-2),
    # The unit is 2^-12, an eighth of bf16's, and so are the bounds. The scale doubles until
    # gradients overflow, so that some steps are skipped, but not the first, which is dumped.
    "fp16": Bounds(("gpt2-nano",), 20, 2e-5, 5e-4, 4e-3, 1e-2,
                   ("--initial-loss-scale", 2 ** 18, "--loss-scale-window", 2)),
}


# The transports, with their options.
COMMS = {"shm": ("shm",), "threads": ("threads", "--strict")}


# For GPUs: collectives on their own stream, beside backward and forward.
OVERLAPPED = (Layout(dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=20000),
              Layout(pp=2, dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=20000),
              Layout(tp=2, dp=2, zero=2, overlap="param-gather", sp=True))


class Result:
    """What one run left: bits to compare, and the gradients of step 1."""

    def __init__(self, log, folder):
        self.losses = [step["loss"] for step in log]
        self.norms = [step["grad_norm"] for step in log]
        self.gradients = self.read(folder, "grads")
        self.bits = {
            "initial weights": safetensors.digest(self.read(folder, "init")),
            "losses": self.losses,
            "gradient norms": self.norms,
            "gradients of step 1": safetensors.digest(self.gradients),
            "final parameters": safetensors.digest(self.read(folder, "params"))}

    @staticmethod
    def read(folder, what):
        return safetensors.read(os.path.join(folder, f"{what}.safetensors"))


class Model:
    """The runs of one spec, compared as they come."""

    def __init__(self, mtc, report, spec, bounds, data, folder):
        self.mtc, self.report, self.spec, self.folder = mtc, report, spec, folder
        self.bounds = bounds
        # The defaults of a recipe, but for its steps.
        self.recipe = ["--data", data, "--data-type", "u8", "--steps", bounds.steps,
                       "--warmup", min(5, bounds.steps - 1), *bounds.recipe]
        self.classes = {}
        self.worst = {"loss": 0.0, "norm": 0.0, "gradient": 0.0}

    def run(self, layout, bundle, comm, mtc=None):
        folder = os.path.join(self.folder, "run")
        log = (mtc or self.mtc).run(bundle, self.recipe, folder, comm,
                           dumps=("init", "grads", "params"))
        result = Result(log, folder)
        shutil.rmtree(folder)
        steps = self.bounds.steps
        self.report.expect(len(log) == steps, f"{self.spec} {layout.name}: "
                           f"expected {steps} steps, found {len(log)}")
        return result

    def expect_same(self, what, first, second, keys=None):
        same = True
        for key in keys or first.bits:
            same &= self.report.expect(first.bits[key] == second.bits[key],
                                       f"{self.spec}: {key} differ, {what}")
        return same

    def expect_close(self, layout, result):
        """N5, against one rank."""
        def check(key, value, bound, where):
            self.worst[key] = max(self.worst[key], value)
            self.report.expect(value <= bound, f"{self.spec} {layout.name}: {key} "
                               f"{where} is {value:.2e} from one rank's, "
                               f"allowed {bound}")
        for key, wanted, found, bound in (
                ("loss", self.reference.losses, result.losses, self.bounds.losses),
                ("norm", self.reference.norms, result.norms, self.bounds.norms)):
            # A step that overflowed has no norm; it did so in both, or they are far apart.
            errors = [0.0 if w is f is None else float("inf") if None in (w, f) else
                      safetensors.finite(relative(w, f)) for w, f in zip(wanted, found)]
            step = max(range(len(errors)), key=errors.__getitem__)
            check(key, errors[step], bound, f"of step {step + 1}")
        bound = self.bounds.gradients
        ratio, name = safetensors.worst_gradient(
            *({name: tensor.values() for name, tensor in r.gradients.items()}
              for r in (self.reference, result)), bound, self.bounds.floor)
        check("gradient", ratio * bound, bound, f"of {name}")

    def train(self, layout, bundle, comms, mtc=None):
        result, *others = [self.run(layout, bundle, COMMS.get(comm), mtc)
                           for comm in comms]
        same = all([self.expect_same(f"{layout.name} on {' and '.join(comms)}",
                                     result, other) for other in others])
        if layout == SINGLE:
            self.reference = result
            learnt = result.losses[0] - result.losses[-1]
            self.report.expect(learnt > 0.1 or self.bounds.steps < 10, f"{self.spec}: the loss fell by "
                               f"{learnt:.3f} only: the test sees no training")
        self.expect_same(f"{layout.name} and {SINGLE.name}", self.reference,
                         result, ["initial weights"])
        if "nccl" in comms and (max(layout.tp, layout.cp, layout.dp) > 2
                                or layout.recompute != "none"):
            # Which ranks NCCL adds first is its own matter; a product that is computed again may
            # round where the one that was saved does not (numerics.md).
            pass
        elif layout.numerics_class in self.classes:
            other, first = self.classes[layout.numerics_class]
            same &= self.expect_same(f"{other.name} and {layout.name}",
                                     first, result)
        else:
            self.classes[layout.numerics_class] = (layout, result)
        self.expect_close(layout, result)
        return same


def threads_of(place, layout):
    """Of a rank, by turns, on which no bit depends: with more than two ranks they would wait for
    cores more than they compute."""
    return 1 + place % 3 if layout.ranks <= 2 else 1


def compile_all(mtc, report, jobs, options, folder):
    """Bundles by spec and layout, which jobs are; two compilations at a time."""
    def compile_one(job):
        spec, layout = job
        threads = threads_of(jobs.index(job), layout)
        try:
            return mtc.compile(spec, layout, os.path.join(folder, f"{spec}-{layout.name}"),
                               [*options, "--threads-per-rank", threads], jobs=1)
        except Failed as failure:
            report.expect(False, f"{spec} {layout.name} compiles: {failure}")
            return None
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(jobs, pool.map(compile_one, jobs)))


def read_options(everything):
    names = [layout.name for layout in everything]
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--dtype", choices=BOUNDS, default="f32")
    parser.add_argument("--layouts", nargs="+", choices=names, default=names)
    parser.add_argument("--comm", nargs="+", choices=COMMS, default=list(COMMS))
    parser.add_argument("--turns", type=int, nargs="?", const=2)
    parser.add_argument("--spec")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--gpu", metavar="STAND_INS")
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def for_gpu(layouts, options):
    """Some of those that a GPU may have: threads of collectives are of CPUs."""
    layouts = [layout for layout in layouts if layout != SINGLE and not layout.comm_thread]
    draw = random.Random(options.seed)
    special = [[layout for layout in layouts if holds(layout)] for holds in
               (lambda layout: layout.sp, lambda layout: layout.chunks > 1)]
    chosen = [draw.choice(each) for each in (OVERLAPPED, *special) if each][:options.sample]
    rest = [layout for layout in layouts if layout not in chosen]
    return chosen + draw.sample(rest, min(len(rest), options.sample - len(chosen)))


def check_gpu(report, options, bounds, layouts, folder):
    """Against one process of the CPU."""
    mtc, data = GpuMtc(options.gpu), os.path.join(folder, "data.bin")
    corpus.write(data)
    if options.dtype == "f32":
        bounds = replace(bounds, losses=1e-6)
    model = Model(Mtc(), report, bounds.specs[0], bounds, data, folder)
    types = precision.options(options.dtype)
    for place, layout in enumerate([SINGLE] + for_gpu(layouts, options)):
        of, comm = (model.mtc, "shm") if place == 0 else (mtc, "nccl")
        bundle = of.compile(model.spec, layout, os.path.join(folder, layout.name), types)
        model.train(layout, bundle, [comm], of)
        print(f"{layout.name}: worst so far "
              + ", ".join(f"{key} {value:.1e}" for key, value in model.worst.items()), flush=True)
    return report.finish("layouts on a GPU")


def bounds_of(options):
    """Those of the type, of the models and steps that were asked for."""
    bounds = BOUNDS[options.dtype]
    return replace(bounds, specs=(options.spec,) if options.spec else bounds.specs,
                   steps=options.steps or bounds.steps)


def main():
    mtc, report, start = Mtc(), Report(), time.monotonic()
    everything = matrix(mtc.schedules())
    options = read_options(everything)
    bounds = bounds_of(options)
    layouts = [SINGLE] + [layout for layout in everything if options.part in layout.name
                          and layout.name in options.layouts]
    # A list that shrank would shrink the test with it.
    report.expect(len(everything) >= 122 and len(layouts) > 1,
                  f"expected 122 layouts or more and some of them chosen, found "
                  f"{len(everything)} and {len(layouts) - 1}")
    if options.gpu:
        with tempfile.TemporaryDirectory() as temporary:
            return check_gpu(report, options, bounds, layouts, temporary)
    with tempfile.TemporaryDirectory() as temporary:
        data = os.path.join(temporary, "data.bin")
        corpus.write(data)
        jobs = [(spec, layout) for number, spec in enumerate(bounds.specs)
                for place, layout in enumerate(layouts)
                if not options.turns or layout == SINGLE
                or place % (options.turns * len(bounds.specs)) == options.turns * number]
        bundles = compile_all(mtc, report, jobs, precision.options(options.dtype), temporary)
        print(f"compiled {len(bundles)} bundles in "
              f"{time.monotonic() - start:.1f} s", flush=True)
        models = {spec: Model(mtc, report, spec, bounds, data, temporary)
                  for spec in bounds.specs}
        for number, ((spec, layout), bundle) in enumerate(bundles.items()):
            if bundle is None:
                continue
            comms = options.comm
            if options.turns:
                comms = [comms[number % len(comms)]]
            begin = time.monotonic()
            try:
                same = models[spec].train(layout, bundle, comms)
            except Failed as failure:
                same = report.expect(False, f"{spec} {layout.name} runs: {failure}")
            print(f"{spec:17} {layout.name:32} {'same bits' if same else 'DIFFERS':10}"
                  f"{time.monotonic() - begin:5.1f} s", flush=True)
            shutil.rmtree(bundle)
    for spec, model in models.items():
        print(f"{spec}: {len(model.classes)} classes of equal bits; worst of N5: "
              + ", ".join(f"{key} {value:.1e}" for key, value in model.worst.items()))
    return report.finish(f"layout matrix of {options.dtype} in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
