"""`recompute = fit` is, of all policies but those that name ops, the one with the fewest
operations that fits.

Every policy is planned by name under a limit that it just keeps and one that it just
breaks; what `fit` says is compared with the cheapest of those that fit, by what the
backward computes again of the model's products, in closed form. The plan is that of the
policy by name. The same where what is saved is distributed; where nobody asked for that
it is never done, and said to be what would fit where nothing else does.

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
SPLIT = "--distribute-saved-activations"
# Hidden size, tokens, layers of each stage, options, and how many answers there are at
# least. Attention of long samples costs more than a layer's products of a narrow model:
# there layers=1 comes before `selective`, elsewhere behind.
MODELS = [
    (64, 1024, (4,), ("--gbs", 2, "--mbs", 1), 3),
    (64, 128, (3, 3), ("--gbs", 8, "--mbs", 2, "--pp", 2, "--tp", 2), 3),
    # A stage of one layer: `selective` may need less than `full`.
    (128, 64, (0, 1, 0), ("--gbs", 4, "--mbs", 4, "--pp", 3, "--stages", "E|t|L"), 3),
    # A stage without a layer has most microbatches in flight: two of them are all that the
    # next one has, so that this is `full`, which needs less.
    (64, 128, (0, 3, 0), ("--gbs", 8, "--mbs", 1, "--pp", 3, "--stages", "E|ttt|L"), 3),
    (64, 128, (3, 2), ("--gbs", 8, "--mbs", 2, "--pp", 2, "--stages", "balanced"), 3),
    # Six microbatches in flight: some of them are less than the one layer of a stage.
    (64, 128, (1, 1), ("--gbs", 6, "--mbs", 1, "--pp", 2, "--schedule", "gpipe"), 5),
    # As many microbatches as the smallest batch has: more in flight are of the largest.
    (64, 128, (1, 1, 1, 1), ("--gbs", "2,6", "--mbs", 1, "--pp", 4), 4),
    (64, 128, (2, 2), ("--gbs", 4, "--mbs", 1, "--pp", 2, "--tp", 2, "--schedule", "gpipe",
                       SPLIT), 5),
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


def option(options, name, default):
    return options[options.index(name) + 1] if name in options else default


def slots(options, stages, stage, microbatches):
    """Forwards (True) and backwards of a stage, of 1f1b or of gpipe."""
    first = microbatches if "gpipe" in options else min(stages - stage, microbatches)
    turns = microbatches - first
    return [True] * first + [False, True] * turns + [False] * first


def small(line, count):
    """Microbatches of a stage that are computed again if `count` of those in flight may be,
    and how many are in flight: a small slot is taken while all large ones are."""
    flight = most = 0
    for forward in line:
        flight += 1 if forward else -1
        most = max(most, flight)
    large, taken, again = max(most - count, 0), [], 0
    for forward in line:
        if not forward:
            taken.pop(0)  # the oldest goes back first
            continue
        again += sum(taken) >= large
        taken.append(sum(taken) < large)
    return again, most


def policies(options, stages):
    """Each policy in the order in which equal ones are taken, and how many layers it computes
    again in all, of each microbatch of the largest batch; one cannot name more microbatches
    than the smallest has."""
    batches = [int(batch) for batch in str(option(options, "--gbs", 0)).split(",")]
    count, fewest = (of(batches) // option(options, "--mbs", 1) for of in (max, min))
    lines = [slots(options, len(stages), stage, count) for stage in range(len(stages))]
    table = {"none": 0, "full": count * sum(stages)}
    for n in range(1, max(stages)):
        table[f"layers={n}"] = count * sum(min(n, layers) for layers in stages)
    flight = max(small(line, 0)[1] for line in lines)
    for n in range(1, min(flight, fewest + 1)):
        table[f"microbatches={n}"] = sum(
            layers * small(line, n)[0] for layers, line in zip(stages, lines))
    return {**table, "selective": table["full"]}


def again(policy, hidden, seq, counts):
    """Operations over s * h of what a policy computes again: attention is 2sh of a causal
    model, the products of a layer but the last, whose result nobody reads, are 16hh. What
    is pointwise counts as nothing, here and in the plan."""
    return counts[policy] * (2 * seq + (16 * hidden if policy != "selective" else 0))


def by_name(policy, options):
    """What is not saved in parts under `none` is not distributed."""
    return (*(word for word in options if word != SPLIT or policy != "none"),
            "--recompute", policy)


def check_model(mtc, folder, case):
    hidden, seq, stages, options, least = case
    spec = os.path.join(folder, "spec.toml")
    with open(spec, "w") as file:
        file.write(SPEC.format(vocab=VOCAB, layers=sum(stages), hidden=hidden, ffn=4 * hidden,
                               seq=seq))
    counts = policies(options, stages)
    plans = {policy: lint(mtc, spec, *by_name(policy, options))[0] for policy in counts}
    need = {policy: bytes_of(plan) for policy, plan in plans.items()}
    limits = sorted({n - d for n in need.values() for d in (0, 1)})
    answers = set()
    for limit in limits:
        fitting = [policy for policy in counts if need[policy] <= limit]
        found, said = lint(mtc, spec, *options, "--recompute", "fit", "--device-memory",
                           limit)
        wanted = min(fitting, default="full",
                     key=lambda policy: again(policy, hidden, seq, counts))
        is_new = fitting and wanted not in answers
        answers.add(wanted)
        if (found["recompute"] != wanted or found["fits"] != bool(fitting)
                or (is_new and found["plan_hash"] != hash_of(mtc, spec, wanted, options, limit))):
            yield (f"{case}, {limit} bytes: expected {wanted} of {need}, found "
                   f"{found['recompute']}, fits: {found['fits']}\n{said}")
        if not fitting:
            yield from check_advice(mtc, spec, options, limit, said)
    print(f"{options}: {len(limits)} limits, {len(answers)} answers: {sorted(answers)}")
    if len(answers) < least:
        yield f"{case}: expected at least {least} answers, found {answers}"
    yield from check_compiled(mtc, folder, spec, options, need)


def hash_of(mtc, spec, policy, options, limit):
    return lint(mtc, spec, *by_name(policy, options), "--device-memory", limit)[0]["plan_hash"]


def check_advice(mtc, spec, options, limit, said):
    """Where nothing fits: what would if what is saved were distributed, if there is tp."""
    told = [line for line in said.splitlines() if "distribute_saved_activations" in line]
    if "--tp" not in options or SPLIT in options:
        if told:
            yield f"{options}: nothing to distribute, found {told}"
        return
    found, _ = lint(mtc, spec, *options, SPLIT, "--recompute", "fit", "--device-memory", limit)
    words = (f"with distribute_saved_activations {found['recompute']} would fit"
             if found["fits"] else "nor does any with distribute_saved_activations")
    if len(told) != 1 or words not in told[0]:
        yield f"{options}, {limit} bytes: expected '{words}', found {said}"


def check_compiled(mtc, folder, spec, options, need):
    """`mtc compile` makes the plan that the policy by name has under the same limit."""
    for limit in (need["full"], need["none"]):
        limited = (*options, "--device-memory", limit, "--recompute", "fit")
        found, _ = lint(mtc, spec, *limited)
        report = json.loads(mtc.call("compile", spec, *limited, *ISA, "--json",
                                     "-o", os.path.join(folder, "out")).stdout)
        if report["plan_hash"] != found["plan_hash"]:
            yield f"{options}: found another plan than of {found['recompute']}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for case in MODELS:
            report.expect_none(check_model(mtc, folder, case))
    return report.finish(f"{len(MODELS)} models")


if __name__ == "__main__":
    sys.exit(main())
