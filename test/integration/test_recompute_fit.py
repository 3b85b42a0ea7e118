"""`recompute = fit` is, of all policies but those that name ops, the one with the fewest
operations that fits.

Every policy is planned by name under a limit that it just keeps and one that it just
breaks; what `fit` says is compared with the cheapest of those that fit, by what the
backward computes again of the model's products, in closed form. The plan is that of the
policy by name.

usage: test_recompute_fit.py BIN_DIR
"""

import json
import os
import sys
import tempfile

from run_layout import Mtc, Report

INFEASIBLE = 4
ISA = ("--isa", "x86-64-v3")
VOCAB = 256
# Hidden size, tokens, layers, options, layers of the largest stage. Attention of long
# samples costs more than a layer's products of a narrow model: there layers=1 comes before
# `selective`, elsewhere behind.
MODELS = [
    (64, 1024, 4, ("--gbs", 2, "--mbs", 1), 4),
    (64, 128, 6, ("--gbs", 8, "--mbs", 2, "--pp", 2, "--tp", 2), 3),
    # A stage of one layer: `selective` may need less than `full`.
    (128, 64, 1, ("--gbs", 4, "--mbs", 4, "--pp", 3, "--stages", "E|t|L"), 1),
    (64, 128, 5, ("--gbs", 8, "--mbs", 2, "--pp", 2, "--stages", "balanced"), 5),
]
SPEC = """name = "layers"
vocab = {vocab}
layers = {layers}
hidden = {hidden}
heads = 4
ffn = {ffn}
max_seq = {seq}
"""


def lint(mtc, spec, *options):
    ended = mtc.call("lint", spec, *options, *ISA, "--tries", 0, "--json", check=False)
    if ended.returncode not in (0, INFEASIBLE):
        raise AssertionError(f"{options}: exit code {ended.returncode}, {ended.stderr}")
    return json.loads(ended.stdout), ended.stderr


def bytes_of(found):
    return max(stage["memory"]["total"] for stage in found["stages"])


def again(policy, hidden, seq, layers_again):
    """Operations over s * h of what a policy computes again: attention is 2sh of a causal
    model, the products of a layer but the last, whose result nobody reads, are 16hh. What
    is pointwise counts as nothing, here and in the plan."""
    layer = 16 * hidden + 2 * seq
    return {"none": 0, "selective": 2 * seq * layers_again["full"],
            "full": layer * layers_again["full"]}.get(
        policy, layer * layers_again.get(policy, 0))


def policies(most, layers, stages):
    """Each policy, and how many layers it computes again in all."""
    table = {"none": 0, "selective": 0}
    for n in range(1, most):
        table[f"layers={n}"] = sum(min(n, layers // stages) for _ in range(stages))
    return table | {"full": layers}


def check_model(mtc, folder, case):
    hidden, seq, layers, options, most = case
    spec = os.path.join(folder, "spec.toml")
    with open(spec, "w") as file:
        file.write(SPEC.format(vocab=VOCAB, layers=layers, hidden=hidden, ffn=4 * hidden,
                               seq=seq))
    stages = options[options.index("--pp") + 1] if "--pp" in options else 1
    counts = policies(most, layers, stages)
    plans = {policy: lint(mtc, spec, *options, "--recompute", policy)[0]
             for policy in counts}
    need = {policy: bytes_of(plan) for policy, plan in plans.items()}
    limits = sorted({n - d for n in need.values() for d in (0, 1)})
    answers = set()
    for limit in limits:
        fitting = [policy for policy in counts if need[policy] <= limit]
        found, said = lint(mtc, spec, *options, "--recompute", "fit", "--device-memory",
                           limit)
        wanted = min(fitting, default="full",
                     key=lambda policy: again(policy, hidden, seq, counts))
        answers.add(wanted)
        if found["recompute"] != wanted or found["fits"] != bool(fitting):
            yield (f"{case}, {limit} bytes: expected {wanted} of {need}, found "
                   f"{found['recompute']}, fits: {found['fits']}\n{said}")
    print(f"{options}: {len(limits)} limits, {len(answers)} answers: {sorted(answers)}")
    if len(answers) < 3:
        yield f"{case}: expected at least three answers, found {answers}"
    yield from check_compiled(mtc, folder, spec, options, plans, need)


def check_compiled(mtc, folder, spec, options, plans, need):
    """`mtc compile` makes the plan that the policy by name has under the same limit."""
    limit = need["full"]
    limited = (*options, "--device-memory", limit)
    found, _ = lint(mtc, spec, *limited, "--recompute", "fit")
    by_name, _ = lint(mtc, spec, *limited, "--recompute", found["recompute"])
    report = json.loads(mtc.call("compile", spec, *limited, "--recompute", "fit", *ISA, "--json",
                                 "-o", os.path.join(folder, "out")).stdout)
    if not report["plan_hash"] == by_name["plan_hash"] == found["plan_hash"]:
        yield f"{options}: found another plan than of {found['recompute']}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for case in MODELS:
            report.expect_none(check_model(mtc, folder, case))
    return report.finish(f"{len(MODELS)} models")


if __name__ == "__main__":
    sys.exit(main())
