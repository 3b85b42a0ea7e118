"""Every optimizer, schedule and group against float64 losses of PyTorch, and the layouts
of each optimizer against each other: bits of one class (contract N4), in fp32 and bf16.

usage: test_optimizers.py BIN_DIR GOLDEN_DIR [--all]

`--all` takes every golden at every layout, and compares bits of all layouts in both types;
without it optimizers take turns, and every other schedule of rates is checked.
"""

import fnmatch
import json
import os
import sys
import tempfile

import precision
import safetensors
from layouts import SINGLE, TP2_PP2_DP2, Layout
from run_layout import Failed, Mtc, Report, relative

SPEC = "gpt2-nano-nodrop"
OPTIMIZERS = ("adamw", "adam_l2", "sgd", "nesterov", "lion")
# As of test_goldens.py; an update of Lion has no more roundings than one of Adam, but its
# sign turns the last bit of a momentum near zero into a step: some of 220,000 weights, by
# 2 lr each, in a direction in which the loss is flat.
SCALARS = 1e-5
NORMS = {"lion": 3e-5}

# One class of bits: tp, dp and micro-batch are the same. One microbatch, so that ZeRO-2
# adds in the order of the others.
CLASS = (Layout(tp=2, dp=2, micro_batch=8), Layout(tp=2, dp=2, zero=1, micro_batch=8),
         Layout(tp=2, dp=2, zero=2, micro_batch=8, bucket=30000),
         Layout(tp=2, pp=2, dp=2, zero=1, micro_batch=8, overlap="grad-reduce,param-gather"))


def strategy_text(overrides):
    values = {True: "true", False: "false"}
    return "".join("[[override]]\n" + "".join(
        f'{key} = {values[value] if isinstance(value, bool) else json.dumps(value)}\n'
        for key, value in override.items()) for override in overrides)


def groups_text(groups):
    return "; ".join(f"{name}: " + ("frozen" if own.get("lr_scale") == 0 else ", ".join(
        f"{key} {value}" for key, value in own.items())) for name, own in groups.items())


def compile_options(run, folder, name):
    options = ["--optimizer", run["optimizer"]]
    if "overrides" in run:
        path = os.path.join(folder, name + ".toml")
        with open(path, "w") as file:
            file.write(strategy_text(run["overrides"]))
        options += ["--strategy", path]
    return options


def recipe_text(run, rates):
    """The recipe of a run's golden, with the numbers of generate.py."""
    recipe = dict(rates["recipes"][run["rates"]]["recipe"])
    scale = run.get("lr", recipe["lr"]) / recipe["lr"]
    recipe["lr"] *= scale
    recipe["min_lr"] *= scale
    if run["optimizer"] == "lion":
        recipe["beta2"] = 0.99
    if "lr_at" in run:
        recipe["lr_at"] = run["lr_at"]
    if "groups" in run:
        recipe["groups"] = groups_text(run["groups"])
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in recipe.items())


class Goldens:
    def __init__(self, mtc, report, folder, goldens):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.model = os.path.join(goldens, "gpt2", "tied-1")
        with open(os.path.join(goldens, "optimizers", "rates.json")) as file:
            self.rates = json.load(file)
        with open(os.path.join(goldens, "optimizers", "losses.json")) as file:
            self.runs = json.load(file)
        self.bundles = {}

    def bundle(self, name, layout):
        run = self.runs[name]
        key = (run["optimizer"], str(run.get("overrides")), layout.name)
        if key not in self.bundles:
            path = os.path.join(self.folder, f"{name}-{layout.name}.mtc")
            self.bundles[key] = self.mtc.compile(
                SPEC, layout, path, compile_options(run, self.folder, name))
        return self.bundles[key]

    def check(self, name, layout):
        run = self.runs[name]
        recipe = os.path.join(self.folder, name + "-recipe.toml")
        with open(recipe, "w") as file:
            file.write(recipe_text(run, self.rates))
        data = ["--data", os.path.join(self.model, "data.bin"), "--data-type", "u8",
                "--order", "sequential"]
        weights = os.path.join(self.model, "weights.safetensors")
        log = self.mtc.run(self.bundle(name, layout), ["--recipe", recipe, *data],
                           os.path.join(self.folder, "run"), dumps=("params",),
                           extra=("--init-from", weights))
        what = f"{name} at {layout.name}"
        self.check_frozen(run, what, weights)
        self.report.expect(len(log) == len(run["losses"]),
                           f"{what}: expected {len(run['losses'])} steps, found {len(log)}")
        errors = {key: max(safetensors.finite(relative(want, step[key]))
                           for want, step in zip(run[golden], log))
                  for key, golden in (("loss", "losses"), ("grad_norm", "grad_norms"))}
        print(f"{what}: loss within {errors['loss']:.1e}, norm {errors['grad_norm']:.1e}",
              flush=True)
        allowed = {"loss": SCALARS, "grad_norm": NORMS.get(run["optimizer"], SCALARS)}
        for key, error in errors.items():
            self.report.expect(error <= allowed[key], f"{what}: {key} is {error:.2e} from "
                               f"the golden, allowed {allowed[key]}")

    def check_frozen(self, run, what, weights):
        """Parameters whose group has no rate and no decay are those of the start."""
        frozen = [group for group, own in run.get("groups", {}).items()
                  if own.get("lr_scale") == 0]
        if not frozen:
            return
        before = safetensors.read(weights)
        after = safetensors.read(os.path.join(self.folder, "run", "params.safetensors"))
        for name in before:
            keeps = any(override.get("group") in frozen
                        and fnmatch.fnmatchcase(name, override["pattern"])
                        for override in run["overrides"])
            same = before[name].values() == after[name].values()
            self.report.expect(same == keeps, f"{what}: expected {name} "
                               f"{'as it was' if keeps else 'updated'}, found it otherwise")


def same_bits(mtc, report, folder, optimizer, dtype, layouts, data):
    """Losses, norms and parameters."""
    first = None
    for layout in layouts:
        what = f"{optimizer} in {dtype} at {layout.name}"
        place = os.path.join(folder, "bits")
        bundle = mtc.compile(SPEC, layout, os.path.join(folder, "bits.mtc"),
                             ["--optimizer", optimizer, *precision.options(dtype)])
        log = mtc.run(bundle, ["--steps", 5, "--lr", "1e-3", "--min-lr", "1e-4", *data],
                      place, dumps=("params",))
        params = safetensors.read(os.path.join(place, "params.safetensors"))
        found = ([(step["loss"], step["grad_norm"]) for step in log],
                 {name: tensor.values() for name, tensor in params.items()})
        first = first or found
        report.expect(found == first, f"{what}: other bits than at {layouts[0].name}")
    print(f"{optimizer} in {dtype}: {len(layouts)} layouts have the same bits", flush=True)


def other_optimizer(mtc, report, goldens, data):
    """A checkpoint is of its optimizer, though another has states of the same names."""
    saved = os.path.join(goldens.folder, "checkpoints")
    mtc.call("run", goldens.bundle("adamw", SINGLE), "--quiet", "--steps", 1, *data,
             "--checkpoints", saved)
    for optimizer in OPTIMIZERS[1:]:
        result = mtc.call("run", goldens.bundle(optimizer, TP2_PP2_DP2), "--quiet",
                          "--steps", 2, *data, "--load", saved, check=False)
        sentence = f"optimizer: expected {optimizer}, found states of adamw"
        report.expect(result.returncode == 3 and sentence in result.stderr,
                      f"a checkpoint of adamw in {optimizer}: expected exit code 3 and "
                      f"{sentence!r}, found {result.returncode} and {result.stderr!r}")


def megatron_names(mtc, report, goldens):
    """Options of Megatron-LM give the numbers of the recipe's keys, or say what to do."""
    bundle = goldens.bundle("wsd-linear", SINGLE)
    data = ["--data", os.path.join(goldens.model, "data.bin"), "--data-type", "u8",
            "--init-from", os.path.join(goldens.model, "weights.safetensors")]
    own = ["--steps", 5, "--lr", "1e-3", "--min-lr", "1e-4", "--init-lr", "1e-5", "--warmup",
           1, "--decay", "wsd", "--wsd-decay", "cosine", "--wsd-decay-steps", 3, "--beta1",
           0.8, "--beta2", 0.9, "--eps", "1e-7", "--weight-decay", 0.2, "--clip", 0.5,
           "--start-weight-decay", 0.1, "--weight-decay-ramp", "linear"]
    theirs = ["--train-iters", 5, "--lr", "1e-3", "--min-lr", "1e-4", "--lr-warmup-init",
              "1e-5", "--lr-warmup-iters", 1, "--lr-decay-style", "WSD",
              "--lr-wsd-decay-style", "cosine", "--lr-wsd-decay-iters", 3, "--adam-beta1",
              0.8, "--adam-beta2", 0.9, "--adam-eps", "1e-7", "--end-weight-decay", 0.2,
              "--clip-grad", 0.5, "--start-weight-decay", 0.1,
              "--weight-decay-incr-style", "linear"]
    logs = [[(step["loss"], step["grad_norm"], step["lr"]) for step in
             mtc.run(bundle, [*data, *options], os.path.join(goldens.folder, "names"))]
            for options in (own, theirs)]
    report.expect(logs[0] == logs[1], "Megatron-LM's names gave other numbers than ours")
    for option, advice in (("--decoupled-lr", "--groups"), ("--optimizer", "adamw"),
                           ("--micro-batch-size", "mtc compile")):
        result = mtc.call("run", bundle, option, 1, *data, check=False)
        report.expect(result.returncode == 2 and advice in result.stderr,
                      f"{option}: expected exit code 2 and {advice}, found "
                      f"{result.returncode} and {result.stderr!r}")


def main():
    mtc, report = Mtc(), Report()
    takes_all = "--all" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        goldens = Goldens(mtc, report, folder, sys.argv[2])
        data = ["--data", os.path.join(goldens.model, "data.bin"), "--data-type", "u8"]
        many = {*OPTIMIZERS[1:], "groups", "groups-lion"}  # adamw: test_goldens.py
        # Rates have goldens of their own (rates_test.cpp): here every other one.
        rates = [name for name in goldens.runs if name not in many]
        for name in goldens.runs:
            if takes_all or name in rates[::2]:
                goldens.check(name, SINGLE)
            if takes_all or name in many:
                goldens.check(name, TP2_PP2_DP2)
        for turn, optimizer in enumerate(OPTIMIZERS[1:] if takes_all else OPTIMIZERS[1::2]):
            dtypes = ("f32", "bf16") if takes_all else (("f32", "bf16")[turn % 2],)
            layouts = CLASS if takes_all else (CLASS[0], CLASS[1 + turn % 3])
            for dtype in dtypes:
                same_bits(mtc, report, folder, optimizer, dtype, layouts, data)
        other_optimizer(mtc, report, goldens, data)
        megatron_names(mtc, report, goldens)
    return report.finish("optimizers")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(str(failure))
