"""Mutates the IR of real plans, and asks whether anybody notices.

    mutate.py BIN_DIR [--mutants 10000] [--skip 0] [--seed 1] [--plans TEXT]
              [--phases P...] [--rules R...] [--keep FOLDER] [--json FILE]

A mutant is one edit of the IR that `mtc compile --save-ir` wrote after one phase. It is
compiled from there on and run, and ends as

  rejected   with exit code 4 and a message
  same       it runs, and every loss, norm, gradient and parameter has the same bits
  another    it runs, to other bits or until they are not finite, and it may: what was
             edited is what is computed (edits.py says which edits those are)
  known      nobody noticed, as the contracts say of this kind (edits.py)
  SILENT     it runs, to other bits or until they are not finite, and nobody noticed
  STOPPED    it was compiled, and the run ended with an error
  CRASHED, STUCK  the compiler or a run ended by a signal, or did not end

SILENT, STOPPED, CRASHED and STUCK are defects of mtc: the exit code is 1 if there is one.
Of a plan for two streams every order runs in which a device may take them (one_stream.py).
Every mutant is made from the seed, the plan and the phase alone: --keep writes the texts,
--json adds a line for each mutant as it ends. A long campaign may be run in parts: --skip
leaves out the first of its mutants, which are those that it would have had.
--few takes the plans that are marked so, for a test that runs often.
"""

import argparse
import collections
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import bench
import edits
from bench import Bench
from ir_text import Text
from plans import plans
from rules import RULES
from run_layout import Mtc

FIRST = "partition"
DEFECTS = ("SILENT", "STOPPED", "CRASHED", "STUCK")


class Mutant:
    def __init__(self, number, of, phase, rule, site):
        self.number, self.bench, self.phase, self.rule = number, of, phase, rule
        self.site = site
        self.ended, self.said = None, ""

    @property
    def name(self):
        return (f"{self.number} {self.bench.plan.name} {self.phase} line "
                f"{self.site.op.line + 1}: {self.site.what}")

    def judge(self):
        text = self.site.make()
        ended, said = self.bench.judge(text, self.phase)
        if ended == "ran":
            other = [k for k in said if said[k] != self.bench.expected.get(k)]
            ended = "unnoticed" if other else "same"
            said = "other " + ", ".join(other)
        if (ended in ("unnoticed", "not finite")
                or ended == "stopped" and edits.exports(self.site)):
            if edits.computes(self.phase, self.rule, self.site):
                ended = "another"
            elif edits.known(self.phase, self.site):
                ended = "known"
        self.ended = {"crashed": "CRASHED", "stuck": "STUCK", "stopped": "STOPPED",
                      "unnoticed": "SILENT", "not finite": "SILENT"}.get(ended, ended)
        self.said = said if isinstance(said, str) else ""
        return self


def choose(benches, phases, rules, count, seed):
    """Mutants spread evenly over plans, and by chance over phases, rules and kinds of
    ops: there are many more kernels' ops than rows of timelines."""
    generator = random.Random(seed)
    texts = {}
    made = 0
    while made < count:
        of = benches[made % len(benches)]
        phase = generator.choice([p for p in of.ir if p in phases])
        text = texts.get((of, phase)) or texts.setdefault((of, phase), Text(of.ir[phase]))
        rule = generator.choice(rules)
        op = generator.choice(text.by_name[generator.choice(sorted(text.by_name))])
        sites = list(RULES[rule](text, op))
        if sites:
            made += 1
            yield Mutant(made, of, phase, rule, generator.choice(sites))


def mutated_phases(ir):
    """From partition on, but for what verifiers wrote: the same text again."""
    names = list(ir)
    return [p for p in names[names.index(FIRST):] if not p.startswith("verify-")]


def table(mutants):
    """Counts by phase and by rule."""
    ends = ["rejected", "same", "another", "known", *DEFECTS]
    for what in ("phase", "rule"):
        rows = collections.defaultdict(collections.Counter)
        for m in mutants:
            rows[getattr(m, what)][m.ended] += 1
        print(f"\n{what:<20}" + "".join(f"{e:>10}" for e in ends))
        for key, row in rows.items():
            print(f"{key:<20}" + "".join(f"{row[e]:>10}" for e in ends))
        total = collections.Counter(m.ended for m in mutants)
    print(f"{'all':<20}" + "".join(f"{total[e]:>10}" for e in ends))
    return total


def by_kind(mutants):
    """Defects of one kind together, with an example."""
    kinds = collections.defaultdict(list)
    for m in mutants:
        if m.ended in DEFECTS:
            what = re.sub(r"-?\d+", "N", re.sub(r'"[^"]*"|@\w+', "NAME", m.site.what))
            kinds[m.ended, m.phase, what].append(m)
    for (ended, phase, what), group in sorted(kinds.items(), key=lambda k: -len(k[1])):
        print(f"{ended} {len(group)} x {phase}: {what}; {group[0].name}; "
              f"{group[0].said.strip()[:160]}")


def judged(mutants, jobs):
    """Mutants as they have ended, in order; few are made before they are needed."""
    waiting = collections.deque()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for mutant in mutants:
                waiting.append(pool.submit(mutant.judge))
                if len(waiting) > 4 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def run_all(benches, options):
    phases = options.phases or mutated_phases(benches[0].ir)
    done = []
    start = last = time.monotonic()
    chosen = choose(benches, phases, options.rules, options.mutants, options.seed)
    chosen = itertools.islice(chosen, options.skip, None)
    try:
        for mutant in judged(chosen, options.jobs):
            done.append(mutant)
            record(mutant, options)
            if time.monotonic() - last > 20:
                last = time.monotonic()
                bad = sum(m.ended in DEFECTS for m in done)
                print(f"{options.skip + len(done)} of {options.mutants} in "
                      f"{last - start:.0f} s, {bad} defects", flush=True)
    except KeyboardInterrupt:
        print(f"stopped after {options.skip + len(done)} of {options.mutants}", flush=True)
    return done


def record(mutant, options):
    if mutant.ended in DEFECTS and options.keep:
        keep(mutant, options.keep)
    if options.json:
        with open(options.json, "a") as file:
            print(json.dumps({"name": mutant.name, "rule": mutant.rule,
                              "ended": mutant.ended, "said": mutant.said}), file=file)


def keep(mutant, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{mutant.number}.mlir"), "w") as file:
        file.write(mutant.site.make())
    with open(os.path.join(folder, f"{mutant.number}.txt"), "w") as file:
        file.write(f"{mutant.ended} {mutant.name}\n{mutant.said}\n")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin")
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plans", default="", help="only those with this in their name")
    parser.add_argument("--phases", nargs="+")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=list(RULES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--patience", type=float, default=1.0,
                        help="time limits times this, for a loaded machine")
    parser.add_argument("--keep", help="a folder for the texts of what went wrong")
    parser.add_argument("--few", action="store_true", help="only the plans for tests that run often")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    options = read_options()
    bench.patience = options.patience
    mtc = Mtc()
    with tempfile.TemporaryDirectory() as folder:
        wanted = [p for p in plans(mtc.schedules()) if options.plans in p.name]
        if options.few:
            wanted = [p for p in wanted if p.often]
        benches = [Bench(mtc.program, plan, os.path.join(folder, plan.name))
                   for plan in wanted]
        with ThreadPoolExecutor(options.jobs) as pool:
            for of, bits in zip(benches, pool.map(Bench.control, benches)):
                of.expected = bits
        print(f"{len(benches)} plans compile and run", flush=True)
        done = run_all(benches, options)
    by_kind(done)
    total = table(done)
    bad = sum(total[e] for e in DEFECTS)
    print(f"mutants: {len(done)}, defects: {bad}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
