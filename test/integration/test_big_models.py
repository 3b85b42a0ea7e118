#!/usr/bin/env python3
"""The published models compile, and a rank holds what closed forms say.

Each spec with its strategy is compiled up to verify-plan, which sees all ranks and has
placed every byte; the plan is read back. Checked against big_models.py: the sizes of
both files, the number of parameters, the elements of each rank and how they add up
over stages and tp, and weights, gradients, optimizer state and activations of each
stage, to the byte: in bf16 with fp32 main weights, as the papers compute, and four
plans of up to eight stages in fp32 as well. The smallest plan is compiled to programs
as well, and its report must say what the plan says.

usage: test_big_models.py BIN_DIR [SOURCE]
"""

import concurrent.futures
import json
import math
import os
import re
import sys
import tempfile

import precision
from big_models import MODELS
from run_layout import Failed, Mtc, Report

SAVING_ALL = ("--recompute", "none", "--chunks", "1", "--schedule", "1f1b", "--overlap", "none")
F32 = ("megatron-8.3b", "sc21-1.7b", "sc21-39.1b", "sc21-145.6b")
COMPLETE = "sc21-1.7b"  # fewest layers and one stage: least code
ARENAS = ("params", "grads", "optimizer", "activations", "workspace", "step", "packed")
# What stands deeper is the tensor form of a program.
SECOND = re.compile(r"^    rt\.bucket (\d+) .* second_use_of \d")  # gradients only
MODEL = re.compile(r'pipe\.parameter <name = "([^"]+)".*?>'
                   r'(?: sharding <\[(.*)\]>)?(?: uses \d+)? local tensor<([\dx]+)x(?:f32|bf16)>')
PARAM = re.compile(r'^    rt\.param "([^"]+)" use (\d+) bucket (\d+) ')
STAGE = re.compile(r"^  rt\.program @\S+ stage (\d+) ")
SIZES = re.compile(r"^  \} \{.*?arenas = array<i64: ([\d, ]+)>")


class Parameter:
    """Of one parameter of the model, what one rank of a stage holds."""

    def __init__(self, found, tp):
        self.name = found[1]
        self.local = tuple(map(int, found[3].split("x")))
        axes = re.findall(r"\{(.*?)\}", found[2]) if found[2] else []
        self.split = axes.index('"tp"') if '"tp"' in axes else -1
        self.shape = tuple(size * (tp if i == self.split else 1)
                           for i, size in enumerate(self.local))


class Stage:
    def __init__(self, index):
        self.index, self.memory = index, None
        self.parameters, self.owned = [], []  # held here; of these, owned
        self.second_uses = set()  # buckets without parameters of their own

    def elements(self):
        return sum(math.prod(p.local) for p in self.parameters)


class Plan:
    """Configuration and stages of the text of a plan."""

    def __init__(self, path):
        self.config, self.stages, self.model = {}, [], {}
        with open(path) as file:
            for line in file:
                self.read(line)

    def read(self, line):
        if found := re.search(r'mtc\.config = #mtc\.config<(.*?)(?:>>|"\]>)', line):
            # The names of fields are told apart by their group: "model.name".
            for group, fields in re.findall(r"(\w+) = <(.*?)(?:>|$)", found[1]):
                for name, value in re.findall(r'(\w+) = "?([\w.:+-]+)', fields):
                    self.config[f"{group}.{name}"] = value
            self.config["precision"] = re.search(r"precision = (\w+)", found[1])[1]
        if found := STAGE.match(line):
            self.stages.append(Stage(int(found[1])))
        elif found := SECOND.match(line):
            self.stages[-1].second_uses.add(found[1])
        elif found := MODEL.search(line):
            self.model[found[1]] = Parameter(found, int(self.config["mesh.tp"]))
        elif found := PARAM.match(line):
            if found[3] not in self.stages[-1].second_uses:
                held = self.model[found[1]]
                self.stages[-1].parameters.append(held)
                if found[2] == "0":
                    self.stages[-1].owned.append(held)
        elif found := SIZES.match(line):
            self.stages[-1].memory = dict(zip(ARENAS, map(int, found[1].split(", "))))

    def owned(self):
        """Parameters where they are owned; a tied one has a copy elsewhere."""
        return [p for stage in self.stages for p in stage.owned]

    def total_parameters(self):
        return sum(math.prod(p.shape) for p in self.owned())


def wrong_config(model, plan, dtype):
    wanted = {"mesh.tp": model.tp, "mesh.pp": model.pp, "mesh.dp": model.dp,
              "model.hidden": model.hidden, "model.layers": model.layers,
              "model.padded_vocab": model.vocab, "batch.sequence": model.seq,
              "batch.micro": model.micro_batch, "batch.global": model.batch,
              "batch.microbatches": model.microbatches,
              "schedule.name": "1f1b" if model.chunks == 1 else "interleaved-1f1b",
              "schedule.chunks": model.chunks,
              "recompute.policy": model.recompute if model.recompute != "none" else None,
              "optimizer.zero": model.zero, "precision": dtype, "target.device": "cpu"}
    for key, value in wanted.items():
        if plan.config.get(key) != (None if value is None else str(value)):
            yield (f"{model.name}: expected {key} = {value}, as published, found "
                   f"{plan.config.get(key)}")
    # The heads are in no other number of the plan.
    heads = {p.shape[1] for p in plan.owned() if re.search(r"attn\.(qkv|q)\.weight$", p.name)}
    if heads != {model.heads}:
        yield f"{model.name}: expected {model.heads} heads in all layers, found {heads}"


def wrong_shards(model, plan, _):
    """The shards of the tp ranks are the whole parameter, and each is owned once."""
    names = set()
    for p in plan.owned():
        if p.name in names:
            yield f"{model.name}: {p.name} is owned twice"
        names.add(p.name)
    for stage in plan.stages:
        for p in stage.parameters:
            joined = [size * model.tp if dim == p.split else size
                      for dim, size in enumerate(p.local)]
            if joined != list(p.shape) or p.name not in names:
                yield (f"{model.name}, stage {stage.index}: {p.name} of {p.shape} is "
                       f"not made of shards of {p.local} or has no owner")


def wrong_counts(model, plan, _):
    if plan.total_parameters() != model.parameters():
        yield (f"{model.name}: expected {model.parameters():,} parameters, found "
               f"{plan.total_parameters():,}")
    billions = f"{model.parameters() / 1e9:.{len(model.printed.partition('.')[2])}f}"
    if model.printed and billions != model.printed:
        yield (f"{model.name}: expected {model.printed} billion parameters, as printed, "
               f"found {billions}")
    if [stage.index for stage in plan.stages] != list(range(model.pp)):
        yield f"{model.name}: expected {model.pp} stages, found {len(plan.stages)}"
    for stage in plan.stages:
        wanted = model.rank_parameters(stage.index)
        if stage.elements() != wanted:
            yield (f"{model.name}, stage {stage.index}: expected {wanted:,} elements "
                   f"of parameters on a rank, found {stage.elements():,}")


def wrong_sums(model, plan, _):
    """What the ranks of one replica hold, whole parameters once, is the model and the
    second copy of the token embedding."""
    split = whole = 0
    for stage in plan.stages:
        for p in stage.parameters:
            size = math.prod(p.local)
            split, whole = (split + size, whole) if p.split >= 0 else (split, whole + size)
    copy = model.vocab * model.hidden if model.pp > 1 and model.tied else 0
    if split * model.tp + whole != model.parameters() + copy:
        yield (f"{model.name}: expected {model.parameters() + copy:,} elements over "
               f"stages and tp, found {split * model.tp + whole:,}")


def activations(model, stage, dtype):
    """Those of a stage; with chunks less than pp more values wait to be sent."""
    forms = [model.activation_bytes(stage.index, dtype, waiting)
             for waiting in range(model.pp if model.chunks > 1 else 1)]
    found = stage.memory["activations"]
    return found if found in forms else forms[0]


def wrong_memory(model, plan, dtype):
    for stage in plan.stages:
        wanted = {**model.state_bytes(stage.index, dtype),
                  "activations": activations(model, stage, dtype)}
        for arena, size in wanted.items():
            # Shards of ZeRO-2 end in padding, which integration_state_memory looks at.
            padded = model.zero == 2 and arena != "activations"
            if not size <= stage.memory[arena] <= size * (1.01 if padded else 1):
                yield (f"{model.name} in {dtype}, stage {stage.index}: expected {size:,} "
                       f"bytes of {arena} on a rank, found {stage.memory[arena]:,}, "
                       f"{stage.memory[arena] - size:+,}")


def wrong_report(model, plan, report):
    """The report of the programs says what the plan does."""
    if report["total_parameters"] != plan.total_parameters():
        yield f"{model.name}: the report has {report['total_parameters']:,} parameters"
    if report["ranks"] != model.ranks:
        yield f"{model.name}: the report has {report['ranks']} ranks"
    printed = [(s["stage"], s["parameters"], {a: s["memory"][a] for a in ARENAS})
               for s in report["stages"]]
    planned = [(s.index, s.elements(), s.memory) for s in plan.stages]
    if printed != planned:
        yield f"{model.name}: the report has {printed}, the plan {planned}"


class Compiler:
    def __init__(self, mtc, source, folder):
        self.mtc, self.folder = mtc, folder
        self.models = os.path.join(source, "models")

    def compile(self, model, *options):
        return self.mtc.call(
            "compile", os.path.join(self.models, "specs", model.name + ".toml"),
            "--strategy", os.path.join(self.models, "strategies", model.name + ".toml"),
            *options)

    def plan(self, model, dtype):
        how = "published" if model.posted else "saving"
        path = os.path.join(self.folder, f"{model.name}-{dtype}-{how}.mlir")
        self.compile(model, *precision.options(dtype), *SAVING_ALL * (not model.posted),
                     "--compile-to=verify-plan", "-o", path)
        try:
            return Plan(path)
        finally:
            os.remove(path)

    def report(self, model):
        out = self.compile(model, *precision.options("bf16"), "--json", "-o", os.path.join(self.folder, model.name))
        return json.loads(out.stdout)


def check(compiler, model, dtype):
    """What is wrong with one model, as sentences."""
    try:
        plan = compiler.plan(model, dtype)
        wrong = [sentence for look in (wrong_config, wrong_shards, wrong_counts,
                                       wrong_sums, wrong_memory)
                 for sentence in look(model, plan, dtype)]
        if (model.name, dtype, model.posted) == (COMPLETE, "bf16", True):
            wrong += wrong_report(model, plan, compiler.report(model))
        return wrong
    except Failed as failure:
        return [str(failure)]


def main():
    source = sys.argv[2] if len(sys.argv) > 2 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", "..")
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(mtc, source, folder)
        # The largest first; two at a time, as most of a compilation to a plan is one
        # thread.
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [(layout, dtype) for dtype in ("bf16", "f32")
                    for model in reversed(MODELS) if dtype == "bf16" or model.name in F32
                    for layout in ([model] if dtype == "bf16" else [])
                    + [model.saving_all()] * (model.recompute == "full" and not model.zero)]
            for wrong in pool.map(lambda job: check(compiler, *job), jobs):
                report.expect_none(wrong)
    return report.finish(f"{len(MODELS)} published models")


if __name__ == "__main__":
    sys.exit(main())
