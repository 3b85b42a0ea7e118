#!/usr/bin/env python3
"""Ranks make NCCL's communicators in one order, before the first step, and register their arenas.

usage: test_communicators.py BIN_DIR STAND_INS

A tiny model runs a step in layouts of several ranks. The stand-in of NCCL tells which communicators
each rank made before its first collective or transfer, in which order, and whether it made one
later: all ranks take part in the same splits, in the order of the mesh's groups, of which this
test knows the members by its own formula, and nothing is made later. Which collectives are in
registered memory it counts. A bundle's report counts as many communicators beside the memory that
is planned.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from test_bundles import TARGET, TINY, Tester
from layouts import Layout
from run_layout import Failed, Mtc, Report
from small_spec import small_spec

LINE = r"cuda stand-in: NCCL: rank (\d+) made communicators of ranks (.*)"
REGISTERED = (r"cuda stand-in: NCCL: communicator (\d+), rank (\d+) of \d+: (\d+) of (\d+) collectives in registered "
              r"memory")
LIMIT = 120  # seconds, after which ranks that wait for each other in vain are ended
AXES = ("tp", "cp", "dp", "pp")  # the first is the fastest
GROUPS = ("tp", "dp", "embedding", "cp", "kv")  # in the order of their splits
HEADS = 4
LAYOUTS = [Layout(tp=2, dp=2), Layout(tp=2, pp=2, dp=2), Layout(pp=3), Layout(cp=2, dp=2), Layout(dp=2, zero=1),
           Layout(pp=2), Layout(tp=4), Layout(tp=4, dp=2)]


def coordinates(rank, layout):
    found = {}
    for axis in AXES:
        rank, found[axis] = divmod(rank, getattr(layout, axis))
    return found


def kv_heads(layout):
    """Half as many as ranks along tp, so that two of them have the same, if there are more than two."""
    return layout.tp // 2 if layout.tp > 2 else HEADS


def members(rank, group, layout):
    """The ranks that differ along an axis only; "embedding": of stages the first and the last; "kv": of neighbours
    along tp those with the same heads of keys. None: in no group of several."""
    own, axis = coordinates(rank, layout), {"embedding": "pp", "kv": "tp"}.get(group, group)
    places = {0, layout.pp - 1} if group == "embedding" else set(range(getattr(layout, axis)))
    if group == "kv":
        same = max(layout.tp // kv_heads(layout), 1)
        places = set(range(own["tp"] // same * same, own["tp"] // same * same + same))
    if own[axis] not in places or len(places) == 1:
        return None
    others = (coordinates(other, layout) for other in range(layout.ranks))
    return [other for other, at in enumerate(others)
            if at[axis] in places and all(at[each] == own[each] for each in AXES if each != axis)]


def expected(rank, layout):
    """What a rank makes: that of all, then one for each group that has several ranks, and not all."""
    made = [list(range(layout.ranks))]
    for group in GROUPS:
        if len(members(0, group, layout) or []) not in (0, layout.ranks):
            made.append(members(rank, group, layout))
    return made


def train(tester, bundle, said):
    """A step. Its exit code; None: ranks of different communicators wait for each other in vain."""
    job = subprocess.Popen([tester.mtc.program, "run", bundle, "--quiet", "--data", tester.data, "--data-type", "u8",
                            "--steps", "1", "--warmup", "1"], start_new_session=True,
                           env=dict(os.environ, LD_LIBRARY_PATH=tester.stand_ins, MTC_STANDIN_ALLOW="duplicate_gpu",
                                    MTC_STANDIN_REPORT=said, MTC_STANDIN_COMMUNICATORS="1"))
    try:
        return job.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        return None


def check(tester, layout):
    spec = os.path.join(tester.folder, "tiny.toml")
    with open(spec, "w") as file:
        file.write(small_spec(tied=True, **dict(TINY, layers=layout.pp, heads=HEADS, kv_heads=kv_heads(layout))))
    bundle = tester.compile("f32", layout, *TARGET, spec=spec)
    said = os.path.join(tester.folder, "said")
    if os.path.exists(said):
        os.remove(said)
    code = train(tester, bundle, said)
    text = ""
    if os.path.exists(said):
        with open(said) as file:
            text = file.read()
    tester.report.expect(code == 0 and re.fullmatch(f"({LINE}\n){{{layout.ranks}}}({REGISTERED}\n)+", text),
                         f"{layout.name}: exit {code}, the stand-ins say: {text}")
    found = re.findall(LINE, text)
    ranks = sorted(int(rank) for rank, _ in found)
    tester.report.expect(ranks == list(range(layout.ranks)), f"{layout.name}: found the ranks {ranks}")
    for rank, made in found:
        made = [None if each == "none" else list(map(int, each.split())) for each in made.split("; ")]
        wanted = expected(int(rank), layout)
        tester.report.expect(made == wanted, f"{layout.name}: expected rank {rank} to make communicators of {wanted} "
                             f"before its first call, found {made}")
    check_report(tester, layout, bundle, found)
    check_registered(tester, layout, re.findall(REGISTERED, text))


def check_report(tester, layout, bundle, found):
    """What the report says of a stage, for each of whose ranks the stand-in knows better."""
    with open(os.path.join(bundle, "report.json")) as file:
        stages = json.load(file)["stages"]
    for rank, made in found:
        count = sum(each != "none" for each in made.split("; "))
        said = stages[coordinates(int(rank), layout)["pp"]]["beside_plan"]
        tester.report.expect(said["communicators"] == count and said["total"] == said["context"] + said["nccl"],
                             f"{layout.name}: expected {count} communicators of rank {rank} in the report, found {said}")


def check_registered(tester, layout, found):
    """Sums and gathers among ranks of one stage are in registered memory. The norm is not, by the communicator of
    all, which is that of a stage as well where there is nothing else, nor what the first and the last stage exchange."""
    made = ["all"] + [group for group in GROUPS if len(members(0, group, layout) or []) not in (0, layout.ranks)]
    counts = {name: [(int(here), int(all_)) for number, _, here, all_ in found if made[int(number) - 1] == name]
              for name in made}
    for name, of_ranks in counts.items():
        ranks = sum(members(rank, name, layout) is not None for rank in range(layout.ranks)) if name != "all" \
            else layout.ranks
        is_stage = (name == "all" and layout.pp == 1
                    and any(len(members(0, group, layout) or []) == layout.ranks for group in GROUPS))
        wanted = "none" if name in ("all", "embedding") else "all"
        if is_stage:
            wanted = "all but the norm"

        def is_right(here, all_):
            return all_ > 0 and here == {"none": 0, "all": all_, "all but the norm": all_ - 1}[wanted] and (
                not is_stage or here > 1)
        tester.report.expect(len(of_ranks) == ranks and all(is_right(*each) for each in of_ranks),
                             f"{layout.name}, {name}: expected {wanted} of the collectives of {ranks} ranks in "
                             f"registered memory, found {of_ranks}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        for layout in LAYOUTS:
            if not report.failures:
                check(tester, layout)
    return report.finish("communicators in one order")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
