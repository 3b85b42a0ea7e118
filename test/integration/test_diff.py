#!/usr/bin/env python3
"""mtc diff: pairs of bundles, against their reports and against what the strategies say.

usage: test_diff.py BIN_DIR
"""

import json
import os
import sys
import tempfile

from run_layout import Mtc, Report

SAME, DIFFER = 0, 10
COMMON = ("--gbs", 8, "--isa", "x86-64-v3")
BUNDLES = {
    "base": ("--tp", 2, "--pp", 2, "--dp", 2),
    "again": ("--tp", 2, "--pp", 2, "--dp", 2),
    "zero": ("--tp", 2, "--pp", 2, "--dp", 2, "--zero", 1),
    "gpipe": ("--tp", 2, "--pp", 2, "--dp", 2, "--schedule", "gpipe"),
    "narrow": ("--pp", 2, "--dp", 2),
    "deep": ("--tp", 2, "--pp", 4),
    "chunks": ("--tp", 2, "--pp", 2, "--dp", 2, "--chunks", 2, "--schedule",
               "interleaved-1f1b"),
    "lengths": ("--tp", 2, "--pp", 2, "--dp", 2, "--seq", "16,32"),
}
# Of one layer: (shape, what a rank has with tp 2), from the sharding of Megatron.
SPLIT = {"attn.qkv.weight": ([64, 4, 3, 16], [64, 2, 3, 16]),
         "mlp.up.weight": ([64, 256], [64, 128]),
         "mlp.down.weight": ([256, 64], [128, 64])}


def diff(mtc, folder, a, b):
    ended = mtc.call("diff", os.path.join(folder, a), os.path.join(folder, b), "--json",
                     check=False)
    found = json.loads(ended.stdout)
    rows = {(row["part"], row["name"]): (row["a"], row["b"]) for row in found["differences"]}
    return ended.returncode, found, rows


def report_of(folder, name):
    with open(os.path.join(folder, name, "report.json")) as file:
        return json.load(file)


def facts_of(report):
    """What the report says of each stage, by part and name."""
    facts = {("plan", key): value for key, value in report.items()
             if not isinstance(value, (dict, list)) and key != "plan_hash"
             or isinstance(value, list) and value and all(isinstance(each, int) for each in value)}
    for number, stage in enumerate(report["stages"]):
        part = f"stage {number}"
        facts[part, "parameters"] = stage["parameters"]
        facts[part, "sends"] = stage["sends"]
        for table in ("memory", "state", "padding"):
            for name, size in stage[table].items():
                facts[part, f"{table}.{name}"] = size
        for group, traffic in stage["collectives"].items():
            kinds = traffic["kinds"]
            for key in ("calls", "bytes"):
                assert traffic[key] == sum(kind[key] for kind in kinds.values()), traffic
            for kind, part_of in kinds.items():
                facts[part, f"collectives.{group}.{kind}"] = part_of
    return facts


def check_stages(folder, a, b, rows):
    """The rows of plan and stages are all that differs between the reports."""
    left, right = (facts_of(report_of(folder, name)) for name in (a, b))
    wanted = {key: (left.get(key), right.get(key)) for key in {*left, *right}
              if left.get(key) != right.get(key)}
    found = {key: value for key, value in rows.items() if key[0].startswith(("plan", "stage "))}
    for key in sorted({*wanted, *found}):
        if wanted.get(key) != found.get(key):
            yield f"{a}, {b}: {key}: expected {wanted.get(key)}, found {found.get(key)}"


def check_pair(mtc, folder, a, b, configuration):
    code, found, rows = diff(mtc, folder, a, b)
    if code != DIFFER or found["same"]:
        yield f"{a}, {b}: expected exit code {DIFFER}, found {code}"
    settings = {name: value for (part, name), value in rows.items() if part == "configuration"}
    if settings != configuration:
        yield f"{a}, {b}: expected {configuration}, found {settings}"
    yield from check_stages(folder, a, b, rows)
    _, _, mirrored = diff(mtc, folder, b, a)
    if mirrored != {key: (right, left) for key, (left, right) in rows.items()}:
        yield f"{a}, {b}: the other way round it is not the mirror image"


def check_same(mtc, folder):
    code, found, _ = diff(mtc, folder, "base", "again")
    if code != SAME or not found["same"] or found["differences"]:
        yield f"expected the same plan, found {code}, {found}"
    text = mtc.call("diff", os.path.join(folder, "base"), os.path.join(folder, "again")).stdout
    if "the same plan" not in text:
        yield f"expected the same plan, found {text}"


def check_shards(mtc, folder):
    _, _, rows = diff(mtc, folder, "base", "narrow")
    for layer in range(4):
        for name, (whole, part) in SPLIT.items():
            a, b = rows.get(("parameters", f"layers.{layer}.{name}"), ({}, {}))
            if (a.get("shape"), a.get("of a rank"), b.get("of a rank")) != (whole, part, whole):
                yield f"layers.{layer}.{name}: found {a}, {b}"
    if ("parameters", "layers.0.norm1.scale") in rows:
        yield "expected nothing of a parameter that is not split"
    _, _, rows = diff(mtc, folder, "base", "zero")
    kept = {(a["optimizer"], b["optimizer"]) for (part, _), (a, b) in rows.items()
            if part == "parameters"}
    if kept != {("whole", "split over dp")}:
        yield f"zero: expected states that are split, found {kept}"
    # dp 2: half of the states, up to the padding of buckets.
    whole, half = rows["stage 0", "memory.optimizer"]
    if not 0.45 * whole < half < 0.55 * whole:
        yield f"zero: expected half of {whole} bytes, found {half}"


def check_text(mtc, folder):
    ended = mtc.call("diff", os.path.join(folder, "base"), os.path.join(folder, "narrow"),
                     check=False)
    for line in ("  mesh.tp ", "layers.{0-3}.mlp.up.weight", "of a rank [64,128]",
                 "stage 1\n", "collectives.tp.all_reduce"):
        if line not in ended.stdout:
            yield f"expected {line!r}, found\n{ended.stdout}"
    if ended.returncode != DIFFER or ended.stderr:
        yield f"expected {DIFFER} and no error, found {ended.returncode}, {ended.stderr}"


def check_moved(mtc, folder):
    """Of layers that change places each row says which."""
    text = mtc.call("diff", os.path.join(folder, "base"), os.path.join(folder, "chunks"),
                    check=False).stdout
    found = {tuple(line.split()) for line in text.splitlines() if ".norm1.scale" in line}
    wanted = {("layers.1.norm1.scale", "stages", "[0]", "stages", "[1]"),
              ("layers.2.norm1.scale", "stages", "[1]", "stages", "[0]")}
    if found != wanted:
        yield f"expected {wanted}, found {found}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for name, options in BUNDLES.items():
            mtc.call("compile", "gpt2-nano", *COMMON, *options, "-o", os.path.join(folder, name))
        report.expect_none(check_same(mtc, folder))
        for name, configuration in (
                ("zero", {"optimizer.zero": ["0", "1"]}),
                ("gpipe", {"schedule.name": ["1f1b", "gpipe"]}),
                ("lengths", {}),
                ("narrow", {"mesh.tp": ["2", "1"]}),
                ("deep", {"mesh.dp": ["2", "1"], "mesh.pp": ["2", "4"],
                          "batch.microbatches": ["4", "8"],
                          "schedule.layers_per_stage": ["[2, 2]", "[1, 1, 1, 1]"]})):
            report.expect_none(check_pair(mtc, folder, "base", name, {
                key: tuple(value) for key, value in configuration.items()}))
        report.expect_none(check_shards(mtc, folder))
        report.expect_none(check_text(mtc, folder))
        report.expect_none(check_moved(mtc, folder))
    return report.finish(f"{len(BUNDLES)} bundles")


if __name__ == "__main__":
    sys.exit(main())
