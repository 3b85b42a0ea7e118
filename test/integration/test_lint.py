#!/usr/bin/env python3
"""mtc lint: what it says holds is compiled, what it says is needed is what `mtc compile`
reports, and values that keep a rule are all the nearest ones, by arithmetic.

usage: test_lint.py BIN_DIR
"""

import itertools
import json
import os
import sys
import tempfile

from run_layout import Mtc, Report

USAGE, INFEASIBLE = 2, 4
ISA = ("--isa", "x86-64-v3")
# Sizes that nothing but tp = 1, 5 and 25 divides all of.
ODD = """name = "odd"
vocab = 100
layers = 6
hidden = 100
heads = 25
ffn = 400
max_seq = 32
"""
# (spec, strategy, options, ranks): plans of every axis, of a schedule with chunks and of
# layers that are computed again.
PLANS = [("gpt2-nano", "tp2-pp2-dp2", (), 8),
         ("gpt2-nano", None, ("--gbs", 8, "--tp", 2, "--sp", "--zero", 1), 8),
         ("gpt2-nano", None, ("--gbs", 8, "--pp", 2, "--chunks", 2, "--schedule",
                              "interleaved-1f1b", "--recompute", "full"), 2)]
# Strategies whose plan needs more than the limit, how many ranks there are (None: any), and
# what is said of one that fits.
TOO_LARGE = [(("--gbs", 8, "--mbs", 4), "3MiB", None, ""),
             (("--gbs", 8, "--mbs", 4, "--dp", 2), "3MiB", 2, ""),
             (("--gbs", 8, "--mbs", 2, "--pp", 2, "--chunks", 2, "--schedule",
               "interleaved-1f1b"), "2MiB", 4, ""),
             (("--gbs", 8, "--mbs", 1, "--pp", 4), "1600KiB", None, "--recompute microbatches=2"),
             (("--gbs", 8, "--mbs", 2, "--tp", 2, "--pp", 2, "--schedule", "gpipe", "--recompute",
               "full"), "900KiB", None, "--distribute-saved-activations")]


def lint(mtc, *arguments, code=0):
    ended = mtc.call("lint", *arguments, *ISA, "--json", check=False)
    if ended.returncode != code:
        raise AssertionError(f"lint {arguments}: expected exit code {code}, found "
                             f"{ended.returncode}, {ended.stderr}")
    return json.loads(ended.stdout)


def compiled(mtc, folder, *arguments):
    ended = mtc.call("compile", *arguments, *ISA, "--json", "-o", os.path.join(folder, "out"),
                     check=False)
    return ended.returncode, json.loads(ended.stdout) if ended.returncode == 0 else ended.stderr


def check_plan(mtc, folder, spec, strategy, options, ranks):
    """Replicas follow from the ranks; the plan is that of `mtc compile` with so many."""
    given = [strategy] if strategy else []
    found = lint(mtc, spec, *given, *options, "--ranks", ranks)
    dp = ("--dp", found["mesh"]["dp"])
    _, report = compiled(mtc, folder, spec, *(["--strategy", strategy] if strategy else []),
                         *options, *dp)
    for key in ("plan_hash", "ranks", "mesh", "verified"):
        if found[key] != report[key]:
            yield f"{options}: {key}: expected {report[key]}, found {found[key]}"
    for mine, theirs in itertools.zip_longest(found["stages"], report["stages"]):
        if mine["memory"] != theirs["memory"]:
            yield f"{options}: expected {theirs['memory']}, found {mine['memory']}"
    need = max(stage["memory"]["total"] for stage in report["stages"])
    for limit, code in ((need, 0), (need - 1, INFEASIBLE)):
        fits = lint(mtc, spec, *given, *options, "--ranks", ranks, "--device-memory", limit,
                    "--tries", 0, code=code)["fits"]
        if fits != (code == 0):
            yield f"{options}: {limit} of {need} bytes: found fits = {fits}"


def check_gpu(mtc):
    """What is beside the plan counts: a limit that holds both fits, a byte less does not, and nothing is planned
    under one that no device with NCCL keeps. Communicators: of all four ranks, of replicas, and of the ends."""
    options = ("--gbs", 8, "--pp", 2, "--dp", 2, "--target", "cuda:sm_90")
    found = lint(mtc, "gpt2-nano", *options)
    counts = [stage["beside_plan"]["communicators"] for stage in found["stages"]]
    if counts != [3, 3]:
        yield f"expected 3 communicators of each stage, found {counts}"
    need = max(stage["memory"]["total"] + stage["beside_plan"]["total"] for stage in found["stages"])
    for limit, code in ((need, 0), (need - 1, INFEASIBLE)):
        fits = lint(mtc, "gpt2-nano", *options, "--device-memory", limit, "--tries", 0, code=code)["fits"]
        if fits != (code == 0):
            yield f"on a GPU {limit} of {need} bytes: found fits = {fits}"
    said = mtc.call("lint", "gpt2-nano", *options, *ISA, "--device-memory", "500MB", check=False)
    if "one or two changes, 0 tried" not in said.stdout or "larger device" not in said.stderr:
        yield f"expected no strategy to be planned under what CUDA's context takes, found {said}"


def check_too_large(mtc, folder, options, limit, ranks, named):
    """Each strategy that is said to fit compiles under the limit, with the bytes that were
    said, on the ranks that there are; the first costs least, so no second one has its keys."""
    on = ("--ranks", ranks) if ranks else ()
    limited = ("--device-memory", limit)
    found = lint(mtc, "gpt2-nano", *options, *on, *limited, code=INFEASIBLE)
    if not found["nearest"]:
        yield f"{options}: expected strategies that fit, found none"
    if not any(named in near["options"] for near in found["nearest"]):
        yield f"{options}: expected {named}, found {found['nearest']}"
    for near in found["nearest"]:
        merged = dict(zip(options[::2], options[1::2])) | {"--gbs": options[1]}
        words = near["options"].split()
        changes = near["changes"]
        for key in changes:
            for flag in (f"--{key.replace('_', '-')}", {"micro_batch_size": "--mbs"}.get(key)):
                merged.pop(flag, None)
        for axis, count in near["mesh"].items():
            merged.pop(f"--{axis}", None)
            if axis not in changes:
                words += [f"--{axis}", str(count)]
        code, report = compiled(mtc, folder, "gpt2-nano", *itertools.chain(*merged.items()),
                                *words, *limited)
        if code != 0:
            yield f"{options} {words}: expected it to fit, found {report}"
            continue
        need = max(stage["memory"]["total"] for stage in report["stages"])
        if (need, report["ranks"]) != (near["bytes"], near["ranks"]):
            yield f"{words}: expected {need} bytes, {report['ranks']} ranks, found {near}"
        if ranks and report["ranks"] != ranks:
            yield f"{words}: expected {ranks} ranks, found {report['ranks']}"
    for a, b in itertools.combinations(found["nearest"], 2):
        if set(a["changes"]) <= set(b["changes"]):
            yield f"{options}: {b['changes']} is no nearer than {a['changes']}"
    tries = found["tries"]
    if not 0 < tries["made"] <= tries["limit"]:
        yield f"{options}: found {tries}"


def nearest(holds, own, reach=1024):
    """The two values below and the two above that hold."""
    below = [v for v in range(own - 1, 0, -1) if own - v <= reach and holds(v)][:2]
    return sorted(below) + [v for v in range(own + 1, own + reach + 1) if holds(v)][:2]


def check_rules(mtc, odd):
    """25 heads: tp = 1, 5 or 25, and the batch's own rule with all keys that keep it."""
    broken = ("--tp", 2, "--mbs", 4, "--gbs", 10)
    found = lint(mtc, odd, *broken, code=INFEASIBLE)
    rules = {v["rule"]: v["holds_with"] for v in found["violations"]}
    if rules["heads % tp == 0"] != {"tp": [1, 5, 25]}:
        yield f"heads: expected tp of [1, 5, 25], found {rules}"
    expected = {"micro_batch_size": nearest(lambda m: 10 % m == 0, 4),
                "global_batch_size": nearest(lambda b: b % 4 == 0, 10)}
    if rules["global_batch_size % (micro_batch_size * dp) == 0"] != expected:
        yield f"batch: expected {expected}, found {rules}"
    # 10 ranks: 25 is more than there are.
    found = lint(mtc, odd, *broken, "--ranks", 10, code=INFEASIBLE)
    if found["violations"][0]["holds_with"] != {"tp": [1, 5]}:
        yield f"heads: expected tp of [1, 5] on 10 ranks, found {found}"
    for near in found["nearest"]:
        sizes = {"tp": 2, "micro_batch_size": 4, "global_batch_size": 10} | near["changes"]
        options = [word for key, value in sizes.items()
                   for word in ("--" + key.replace("_", "-"), value)]
        if not lint(mtc, odd, *options, "--ranks", 10)["ok"]:
            yield f"{near}: expected all rules to hold"


def check_sequence(mtc):
    """A head and a tail of each sample for each rank along cp; of at most 32 positions."""
    for cp, seq in ((3, 32), (2, 18)):
        found = lint(mtc, "gpt2-nano", "--gbs", 4, "--cp", cp, "--seq", seq, code=INFEASIBLE)
        rules = {v["rule"]: v["holds_with"] for v in found["violations"]}
        expected = {"seq_length % (2 * cp) == 0": {
            "cp": nearest(lambda c: seq % (2 * c) == 0, cp),
            "seq_length": nearest(lambda s: s <= 32 and s % (2 * cp) == 0, seq)}}
        if rules != expected:
            yield f"cp {cp}: expected {expected}, found {rules}"


def check_layers_of_rules(mtc, odd):
    """A schedule has rules of its own, looked at when sizes fit: they are no reason against a
    tp that fits, and are repaired with it."""
    found = lint(mtc, odd, "--gbs", 8, "--tp", 2, "--chunks", 2, code=INFEASIBLE)
    with_tp = found["violations"][0]["holds_with"].get("tp")
    if with_tp != [1, 5, 25]:
        yield f"chunks: expected tp of [1, 5, 25], found {with_tp}"
    if not found["nearest"] or not all({"tp", "chunks"} <= set(n["changes"]) for n in
                                       found["nearest"]):
        yield f"chunks: expected both to change, found {found['nearest']}"


def check_pairs(mtc):
    """Keys that rules couple change together, where no single one may change: chunks are for
    some schedules only, and these for chunks only. One entry of a list may change."""
    plain = {"chunks": 1, "schedule": "1f1b"}
    for sizes, near in (
            (("--gbs", 16, "--chunks", 4, "--schedule", "interleaved-1f1b"), plain),
            (("--gbs", "4,5,6", "--pp", 2, "--chunks", 2, "--schedule", "interleaved-1f1b"),
             {"global_batch_size": [8, 6, 4]}),
            (("--gbs", "4,5", "--pp", 2, "--chunks", 2, "--schedule", "interleaved-1f1b",
              "--tp", 3), None),
            (("--gbs", "8", "--pp", 3, "--stages", "1,1,1"), {"layers_per_stage": [2, 1, 1]})):
        found = lint(mtc, "gpt2-nano", *sizes, code=INFEASIBLE)
        changes = [n["changes"] for n in found["nearest"]]
        if not changes or (near and near not in changes):
            yield f"{sizes}: expected {near}, found {found}"
        if found["search"]["ended_early"]:
            yield f"{sizes}: expected a search that ends by itself, found {found['search']}"
        given = dict(zip(sizes[::2], sizes[1::2]))
        for each in found["nearest"]:
            own = dict(given)
            for key in each["changes"]:
                own.pop({"global_batch_size": "--gbs", "layers_per_stage": "--stages"}.get(
                    key, f"--{key.replace('_', '-')}"), None)
            options = [*itertools.chain(*own.items()), *each["options"].split()]
            if not lint(mtc, "gpt2-nano", *options)["ok"]:
                yield f"{options}: expected all rules to hold"


def check_hosts(mtc, folder):
    """What `mtc compile` says of hosts, and warns of."""
    sizes = ("gpt2-nano", "--gbs", 4, "--tp", 4, "--pp", 2, "--ranks-per-host", 2)
    _, report = compiled(mtc, folder, *sizes)
    if lint(mtc, *sizes).get("hosts") != report["hosts"]:
        yield f"{sizes}: expected {report['hosts']}"
    said = mtc.call("lint", *sizes, *ISA).stdout
    if f"warning        {report['hosts']['warnings'][0]}" not in said:
        yield f"{sizes}: expected the warning of {report['hosts']}, found {said}"


def check_reasons(mtc):
    """What is not ok has a reason in JSON, whichever of files, rules and phases finds it; the
    nearest value of a rule is there even where no single key next to its own keeps it."""
    for arguments, code, words in (
            (("gpt2-nano", "--gbs", 8, "--tp", 2, "--shard.embed", "tp"), INFEASIBLE,
             "expected one dimension of a parameter over tp"),
            (("saved.mlir",), USAGE, "expected a spec, found IR"),
            (("gpt2-nano", "--gbs", 8, "--dtype", "f33"), USAGE, "f32, fp16, bf16")):
        errors = lint(mtc, *arguments, code=code).get("errors", [])
        if len(errors) != 1 or words not in errors[0]["message"]:
            yield f"{arguments}: expected an error with {words!r}, found {errors}"
    found = lint(mtc, "gpt2-nano", "--gbs", 8, "--seq", 9999, code=INFEASIBLE)
    if found["errors"] or [v["nearest"] for v in found["violations"]] != ["seq_length = 32"]:
        yield f"seq 9999: expected seq_length = 32 as nearest, found {found}"


def check_budget(mtc, folder):
    """A search that has far to go ends by its count, and says so; others end by themselves."""
    for sizes in (("--gbs", 65536, "--tp", 65536, "--pp", 65536, "--dp", 65536),
                  ("--gbs", 64, "--tp", 30000, "--pp", 30000, "--dp", 30000),
                  ("--gbs", 10 ** 9, "--tp", 65521, "--pp", 65519, "--ranks-per-host", 7)):
        search = lint(mtc, "gpt2-nano", *sizes, code=INFEASIBLE)["search"]
        # The last look at rules may cost more than is left: that at a schedule does.
        if not search["ended_early"] or not 1 <= search["checks"] / search["limit"] < 1.5:
            yield f"{sizes}: expected a search that ends early, found {search}"
    said = mtc.call("lint", "gpt2-nano", *sizes, *ISA, check=False).stderr
    if f"ended early, after {search['checks']} checks" not in said:
        yield f"expected the same count in words, found {said}"
    slots = os.path.join(folder, "long.txt")
    with open(slots, "w") as file:
        file.write(" ".join(f"F{i} B{i}" for i in range(10000)))
    # A schedule of many slots is long to look at only where its rules hold.
    # Keys of few values come first: they are not what a spent budget leaves out.
    found = lint(mtc, "gpt2-nano", "--gbs", 20000, "--schedule", slots, code=INFEASIBLE)
    keys = {"dp", "schedule"}
    if not found["search"]["ended_early"] or set(found["violations"][0]["holds_with"]) != keys:
        yield f"20,000 samples: expected {keys}, and an early end, found {found}"
    found = lint(mtc, "gpt2-nano", "--gbs", 100000, "--pp", 2, "--chunks", 2, "--mbs", 3,
                 code=INFEASIBLE)["nearest"]
    if {"micro_batch_size": 2, "schedule": "interleaved-1f1b"} not in [n["changes"] for n in found]:
        yield f"100,000 samples: expected another size and schedule, found {found}"
    search = lint(mtc, "gpt2-nano", "--gbs", 8, "--tp", 3, code=INFEASIBLE)["search"]
    if search["ended_early"] or not 0 < search["checks"] < search["limit"]:
        yield f"tp 3: expected a search that ends by itself, found {search}"


def check_text(mtc):
    ended = mtc.call("lint", "gpt2-nano", "--gbs", 4, "--mbs", 4, "--device-memory", "3MiB", *ISA,
                     check=False)
    for line in ("ranks          1 (tp 1, cp 1, dp 1, pp 1)", "rules          all hold",
                 "fits           no, 3.0 MiB a rank", "nearest that fit, "):
        if line not in ended.stdout:
            yield f"expected {line!r}, found\n{ended.stdout}"
    for line in ("try 1 of at most 24: ", "error: stage 0: expected at most 3145728 bytes"):
        if line not in ended.stderr:
            yield f"expected {line!r}, found\n{ended.stderr}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, "odd.toml")
        with open(odd, "w") as file:
            file.write(ODD)
        for plan in PLANS:
            report.expect_none(check_plan(mtc, folder, *plan))
        for case in TOO_LARGE:
            report.expect_none(check_too_large(mtc, folder, *case))
        report.expect_none(check_gpu(mtc))
        report.expect_none(check_rules(mtc, odd))
        report.expect_none(check_sequence(mtc))
        report.expect_none(check_layers_of_rules(mtc, odd))
        report.expect_none(check_pairs(mtc))
        report.expect_none(check_hosts(mtc, folder))
        report.expect_none(check_reasons(mtc))
        report.expect_none(check_budget(mtc, folder))
        report.expect_none(check_text(mtc))
    return report.finish(f"{len(PLANS)} plans, {len(TOO_LARGE)} that are too large")


if __name__ == "__main__":
    sys.exit(main())
