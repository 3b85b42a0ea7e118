#!/usr/bin/env python3
"""--set: the plan of keys that are set is that of files in which they stand. Options by
Megatron-LM's names have the plan of those by ours, and of names that are no synonyms the error
says what to take.

usage: test_set.py BIN_DIR
"""

import json
import os
import sys
import tempfile

from run_layout import Mtc, Report

ISA = ("--isa", "x86-64-v3")
SPEC = {"name": '"small"', "vocab": "64", "layers": "2", "hidden": "32", "heads": "4",
        "ffn": "64", "max_seq": "16", "tied": "true"}
TABLES = {"norm": {"kind": '"layer_norm"', "eps": "1e-5"}, "dropout": {"hidden": "0.1"}}
STRATEGY = {"tp": "2", "global_batch_size": "8", "zero": "0"}
# What is set, by its path: of every kind of value, in tables and out of them, keys that the
# files have and others.
SET = [{"model.layers": "4"},
       {"model.norm.kind": '"rms_norm"', "model.norm.eps": "0.5"},
       {"model.dropout": "{ hidden = 0.25, attention = 0.5 }"},
       {"model.tied": "false", "strategy.dp": "2", "strategy.zero": "1"},
       {"strategy.layers_per_stage": "[1, 1]", "strategy.pp": "2"},
       {"strategy.shard.ffn": '"none"', "strategy.recompute": '"selective"'},
       {"strategy.override": '[{ pattern = "layers.*.mlp.*", shard = { ffn = "none" } }]'}]


# Options by Megatron-LM's names, and by ours.
NAMES = [
    ("--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --dp 2 --sequence-parallel"
     " --num-virtual-stages-per-pipeline-rank 1 --micro-batch-size 1 --global-batch-size 8"
     " --use-distributed-optimizer --ddp-bucket-size 500 --overlap-grad-reduce"
     " --overlap-param-gather --recompute-activations --seq-length 8 --use-tp-pp-dp-mapping",
     "--tp 2 --pp 2 --dp 2 --sp --chunks 1 --mbs 1 --gbs 8 --zero 1 --bucket-size 500 --overlap"
     " p2p,grad-reduce,param-gather --recompute selective --seq 8 --rank-order tp-cp-pp-dp"),
    ("--context-parallel-size 2 --recompute-granularity full --overlap-grad-reduce"
     " --pipeline-model-parallel-layout Et|tL --pipeline-model-parallel-size 2",
     "--cp 2 --recompute full --overlap p2p,grad-reduce --stages 1,1 --pp 2"),
]
FLAGS = ("--overlap-param-gather", "--overlap-grad-reduce", "--recompute-activations",
         "--use-tp-pp-dp-mapping", "--sequence-parallel")
# Of which the error has these words.
NO_NAMES = [("--data-parallel-size 2", "give --dp"), ("--recompute-method block", "layers=N"),
            ("--num-layers-per-virtual-pipeline-stage 1", "--chunks"),
            ("--bf16 --fp16", "excludes"), ("--zero 1 --use-distributed-optimizer", "excludes"),
            ("--overlap none --overlap-grad-reduce", "excludes")]


def text_of(keys, tables):
    lines = [f"{key} = {value}" for key, value in keys.items()]
    for name, table in tables.items():
        lines += [f"[{name}]"] + [f"{key} = {value}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def write(path, keys, tables):
    with open(path, "w") as file:
        file.write(text_of(keys, tables))
    return path


def edited(keys, tables, head, given):
    """The file with the keys that are set, written by hand."""
    keys, tables = dict(keys), {name: dict(table) for name, table in tables.items()}
    for path, value in given.items():
        first, *rest = path.split(".")
        if first != head:
            continue
        if len(rest) == 2:
            tables.setdefault(rest[0], {})[rest[1]] = value
        elif value.startswith("{"):
            # An inline table is merged into the one of the file.
            pairs = dict(pair.strip().split(" = ") for pair in value.strip("{} ").split(","))
            tables.setdefault(rest[0], {}).update(pairs)
        else:
            keys[rest[0]] = value
    return keys, tables


def plan(mtc, *arguments):
    return json.loads(mtc.call("lint", *arguments, *ISA, "--json").stdout)


def check(mtc, folder, spec, strategy, given):
    sets = [word for path, value in given.items() for word in ("--set", f"{path}={value}")]
    found = plan(mtc, spec, strategy, *sets)
    by_hand = [write(os.path.join(folder, f"{head}.edited.toml"),
                     *edited(keys, tables, head, given))
               for head, keys, tables in (("model", SPEC, TABLES), ("strategy", STRATEGY, {}))]
    expected = plan(mtc, *by_hand)
    if found != expected:
        yield f"{given}: expected the plan {expected['plan_hash']}, found {found['plan_hash']}"
    if found["plan_hash"] == plan(mtc, spec, strategy)["plan_hash"]:
        yield f"{given}: expected another plan than without it"


def check_compile(mtc, folder, spec, strategy):
    """Twice the same is no contradiction; the bundle has the plan that lint names."""
    sets = ("--set", "model.layers=4", "--set", "model.layers=4", "--set", "strategy.tp=1")
    report = json.loads(mtc.call("compile", spec, "--strategy", strategy, *sets, *ISA, "--json",
                                 "-o", os.path.join(folder, "out")).stdout)
    if report["plan_hash"] != plan(mtc, spec, strategy, *sets)["plan_hash"]:
        yield "expected the plan that lint names"
    if report["ranks"] != 1:
        yield f"expected 1 rank, found {report['ranks']}"


def check_names(mtc, spec, strategy):
    for theirs, ours in NAMES:
        found, expected = (plan(mtc, spec, strategy, *options.split())["plan_hash"]
                           for options in (theirs, ours))
        if found != expected:
            yield f"{theirs}: expected the plan {expected} of {ours}, found {found}"
        for option in theirs.split():
            rest = [word for word in theirs.split() if word != option]
            if option in FLAGS and plan(mtc, spec, strategy, *rest)["plan_hash"] == found:
                yield f"{option}: expected another plan than without it"
    for options, words in NO_NAMES:
        done = mtc.call("lint", spec, strategy, *options.split(), check=False)
        if done.returncode != 2 or words not in done.stderr:
            yield f"{options}: expected exit code 2 and '{words}', found {done.stderr.strip()}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        spec = write(os.path.join(folder, "spec.toml"), SPEC, TABLES)
        strategy = write(os.path.join(folder, "strategy.toml"), STRATEGY, {})
        for given in SET:
            report.expect_none(check(mtc, folder, spec, strategy, given))
        report.expect_none(check_compile(mtc, folder, spec, strategy))
        report.expect_none(check_names(mtc, spec, strategy))
    return report.finish(f"{len(SET)} sets of keys")


if __name__ == "__main__":
    sys.exit(main())
