"""The table of `mtc profile`, held to the plan and to the run that it times.

Every op of the plan that takes time has a row, as often as its fragment runs (what
continues a product or a sum is in that one's); products
compute 2mnk and move what they read and write; kernels have the plan's names; floors follow from
work and limits; families add up to the step, and the ops of a fragment to its time; a profile
changes no bit; what cannot be profiled is refused.

usage: test_profile.py BIN_DIR
"""

import collections
import json
import os
import re
import sys
import tempfile

import corpus
from layouts import Layout
from run_layout import Failed, Mtc, Report, read_log

# Pipelines and tensor parallelism; collectives beside fragments; and some that count for the
# norm, where the processor does.
RUNS = [("threads", Layout(tp=2, pp=2, micro_batch=4)),
        ("shm", Layout(dp=2, zero=1, comm_thread=True, overlap="grad-reduce")),
        ("threads", Layout(dp=2))]
STEPS = 4
TIMED = re.compile(r"      rt\.(launch|gemm|attention|collective|norm|zero|wait)\b")
# Times are integers of nanoseconds, their means are not.
ROUNDING = 1e-6


def same(expected, found, what):
    if expected != found:
        raise Failed(f"{what}: expected {expected}, found {found}")


def near(expected, found, what):
    if abs(expected - found) > ROUNDING * abs(expected):
        raise Failed(f"{what}: expected {expected}, found {found}")


class Plan:
    """Ops by stage and fragment, and how often a step runs the fragment, from the IR."""

    def __init__(self, folder):
        name = next(n for n in os.listdir(folder) if n.endswith("verify-plan.mlir"))
        self.ops, self.runs = collections.defaultdict(dict), collections.defaultdict(
            collections.Counter)
        self.kernels = collections.defaultdict(dict)  # of launches, likewise
        stage, fragment, train, self.counts = 0, "", False, False
        with open(os.path.join(folder, name)) as file:
            for line in file:
                if found := re.match(r"  rt\.program @\w+ stage (\d+)", line):
                    stage = int(found[1])
                elif found := re.match(r"    func\.func @(\w+)\(", line):
                    fragment = found[1]
                    self.ops[stage][fragment] = []
                    self.kernels[stage][fragment] = []
                # Deeper is the tensor form, of which no code is made.
                elif found := TIMED.match(line):
                    continues = re.search(r" continues( |$)", line)
                    self.counts |= bool(continues) and found[1] == "norm"
                    if not continues:
                        self.ops[stage][fragment].append(found[1])
                        self.kernels[stage][fragment] += re.findall(r" rt\.launch @(\w+)", line)
                elif "rt.timeline" in line:
                    train = "@train" in line
                elif train and (found := re.search(r"rt\.step run @(\w+)", line)):
                    self.runs[stage][found[1]] += 1


class Tester:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder
        self.data = self.path("data.bin")
        corpus.write(self.data)

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, command, bundle, *options, check=True):
        return self.mtc.call(command, bundle, "--data", self.data, "--data-type", "u8",
                             "--quiet", *options, check=check)

    def of_layout(self, comm, layout):
        bundle, ir = self.path(f"bundle-{layout.name}"), self.path(f"ir-{layout.name}")
        self.mtc.compile("gpt2-nano", layout, bundle, options=("--save-ir", ir))
        logs = [self.path(layout.name + name) for name in ("-timed.jsonl", "-plain.jsonl")]
        done = self.call("profile", bundle, "--json", "--comm", comm, "--steps", STEPS,
                         "--warm-up", 1, "--log", logs[0])
        self.call("run", bundle, "--comm", comm, "--steps", STEPS, "--log", logs[1])
        losses = [[(row["loss"], row["grad_norm"]) for row in read_log(log)] for log in logs]
        same(losses[1], losses[0], "losses of a run that is not timed")
        table = json.loads(done.stdout)
        same(layout.ranks, table["ranks"], "ranks")
        same(STEPS - 1, len(table["steps"]), "steps that count")
        # Limits are of the plan's instructions: in f32 it has none for bf16.
        same(0, table["limits"]["bf16_flops"], "FLOPs a second in bf16")
        near(table["step_seconds"]["mean"],
             sum(family["seconds"]["mean"] for family in table["families"]), "families")
        plan = Plan(ir)
        same(len(plan.ops), len(table["stages"]), "stages")
        for stage in table["stages"]:
            self.check_stage(bundle, stage, plan.ops[stage["stage"]],
                             plan.runs[stage["stage"]])
            self.check_kernels(stage, plan.kernels[stage["stage"]])
        self.check_floors(table)
        counted = [row["name"] for stage in table["stages"] for row in stage["rows"]
                   if row["name"].endswith(", counted")]
        same(plan.counts, counted != [], f"sums that count, of {counted}")
        families = {family["family"] for family in table["families"]}
        if layout.comm_thread:
            same(True, "waits for collectives" in families, "waits among the families")
            beside = [row for stage in table["stages"] for row in stage["rows"]
                      if row.get("seconds_beside", 0) > 0]
            same(True, beside != [], "collectives beside fragments")

    def check_stage(self, bundle, stage, ops, runs):
        index = stage["stage"]
        program = json.loads(self.mtc.call(
            "inspect", os.path.join(bundle, "programs", f"stage{index}"), "--json").stdout)
        rows, names = stage["rows"], [f["name"] for f in stage["fragments"]]
        same(program["fragments"], names, "fragments")
        for at, fragment in enumerate(stage["fragments"]):
            name = fragment["name"]
            same(runs[name], fragment["calls"], f"runs of {name}")
            mine = [op for op in stage["ops"] if op["fragment"] == at]
            same(ops[name], [rows[op["row"]]["op"] for op in mine], f"ops of {name}")
            same([runs[name]] * len(mine), [op["calls"] for op in mine], f"calls in {name}")
            spent = sum(op["seconds"]["mean"] for op in mine)
            whole = fragment["seconds"]["mean"]
            # Beside its ops a fragment computes addresses only. A tenth and 50 us a call
            # are for what interrupts it there.
            if not 0.9 * whole - 5e-5 * fragment["calls"] <= spent <= whole:
                raise Failed(f"ops of {name}: expected to add up to {whole} s, found {spent}")
        products = [row for row in rows if row["op"] == "gemm"]
        for row in products:
            gemm = program["gemms"][row["row"]]
            near(2 * gemm["m"] * gemm["n"] * gemm["k"] * row["calls"], row["flops"],
                 f"FLOPs of {row['name']}")
            # What is added is read as well, but by the first microbatch of several.
            read = gemm["k"] * (gemm["m"] + gemm["n"]) * row["calls"]
            written = gemm["m"] * gemm["n"] * row["calls"]
            if not written <= row["bytes"] / 4 - read <= written * (1 + gemm["beta"]):
                raise Failed(f"bytes of {row['name']}: found {row['bytes']}")
        # A product that the first microbatch stores, or of which the last one counts squares,
        # has rows for these; it goes by the other.
        expected = {i for i, gemm in enumerate(program["gemms"])
                    if gemm.get("kernel") != "own_streamed" and not gemm.get("counts")}
        same(expected, {row["row"] for row in products}, "products")
        same(sum(op["calls"] for op in stage["ops"]),
             sum(row["calls"] for row in rows
                 if row["op"] not in ("exchange", "post", "load", "") and
                 not (row["op"] == "wait" and row["family"] == "exchanges")), "calls of all rows")

    @staticmethod
    def check_kernels(stage, kernels):
        rows = stage["rows"]
        for at, fragment in enumerate(stage["fragments"]):
            mine = [rows[op["row"]] for op in stage["ops"] if op["fragment"] == at]
            same(kernels[fragment["name"]],
                 [row["name"].removesuffix(", counted") for row in mine if row["op"] == "launch"],
                 f"kernels of {fragment['name']}")

    @staticmethod
    def check_floors(table):
        """Of a row what takes longest: its FLOPs, its bytes, or what its ranks exchange, read
        and written. Collectives beside fragments have none."""
        flops, copy = table["limits"]["f32_flops"], table["limits"]["copy_bytes"]
        for stage in table["stages"]:
            for row in stage["rows"]:
                floor = max(row["flops"] / flops, row["bytes"] / copy, 2 * row["link_bytes"] / copy)
                near(floor if row["stream"] == 0 else 0, row["floor_seconds"],
                     f"the floor of {row['op']} {row['name']}")
            near(sum(row["floor_seconds"] for row in stage["rows"]), stage["floor_seconds"],
                 "a stage's floor")
        floors = [stage["floor_seconds"] for stage in table["stages"]]
        near(sum(floors) / len(floors), table["floor_seconds"], "the floor")
        near(table["step_seconds"]["mean"], table["step_over_floor"] * table["floor_seconds"],
             "step / floor")

    def for_people(self):
        done = self.call("profile", self.path(f"bundle-{RUNS[0][1].name}"), "--comm", "threads")
        for words in ("limits of a rank: f32", "the mean of 3 behind 2", "step / floor =",
                      "products", "stage 1, longest first", "(gemms "):
            same(True, words in done.stdout, f"'{words}' in the text")

    def refusals(self):
        gpu, bundle, old = self.path("gpu"), self.path(f"bundle-{RUNS[0][1].name}"), self.path("old")
        self.mtc.compile("gpt2-nano", Layout(), gpu, options=("--target", "cuda:sm_90"))
        self.mtc.compile("gpt2-nano", Layout(), old)
        self.age(old)
        saved = self.path("done")
        self.call("run", bundle, "--steps", 3, "--checkpoints", saved)
        goes_on = ["--checkpoints", saved, "--resume", "--steps"]
        for where, options, says in (
                (bundle, [*goes_on, 3], "nothing is left to train: "),
                (bundle, [*goes_on, 3], "and the last one is 3; to profile, give --steps 6 or more"),
                (bundle, [*goes_on, 5], "no step is left behind the 2 of --warm-up"),
                (gpu, [], "expected a bundle for CPUs, found one for cuda:sm_90"),
                (old, [], "compile the bundle again with this version"),
                (bundle, ["--eval", 1], "--eval: expected a run that trains"),
                (bundle, ["--trace", "t.json"], "expected none of them beside a profile"),
                (bundle, ["--timing-log-level", 1], "--timing-log-level: expected none"),
                (bundle, ["--exit-interval", 3, "--checkpoints", self.path("saved")],
                 "times are told at the last step"),
                (bundle, ["--comm", "mpi"], "--comm: expected shm or threads"),
                (bundle, ["--samples", 32], "expected more steps than the 2 of --warm-up"),
                (bundle, ["--steps", 2], "--steps: expected more than the 2 steps")):
            done = self.call("profile", where, *options, check=False)
            same(True, done.returncode in (2, 3), f"{options}: exit code {done.returncode}")
            same(True, says in done.stderr, f"'{says}' in {done.stderr!r}")
            same("", done.stdout, f"{options}: standard output")

    def age(self, bundle):
        path = os.path.join(bundle, "manifest.json")
        with open(path) as file:
            manifest = json.load(file)
        manifest["abi"] -= 1
        with open(path, "w") as file:
            json.dump(manifest, file)


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), folder)
        for what, run in [*((f"{comm}, {layout.name}", lambda comm=comm, layout=layout:
                             tester.of_layout(comm, layout)) for comm, layout in RUNS),
                          ("text", tester.for_people), ("refusals", tester.refusals)]:
            try:
                run()
            except Failed as error:
                report.expect(False, f"{what}: {error}")
    return report.finish(f"{len(RUNS)} layouts, text and refusals")


if __name__ == "__main__":
    sys.exit(main())
