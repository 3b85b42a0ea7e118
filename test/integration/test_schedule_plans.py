#!/usr/bin/env python3
"""The timelines that `mtc compile` makes of schedules are those of an independent program:
test/golden/schedules/schedules.json, 40 schedules of up to eight stages and four chunks.

  slots      of each stage, in order
  exchanges  with --overlap none: which transfers stand together, between which slots, with
             whom, of which value, and in which buffer
  buffers    of each pool, with transfers posted ahead as well

usage: test_schedule_plans.py BIN_DIR GOLDEN_DIR
"""

import hashlib
import json
import os
import re
import sys
import tempfile

from run_layout import Mtc, Report
from small_spec import small_spec

TIMELINE = re.compile(r'pipe\.timeline @\w+ entry "(\w+)" stage (\d+) pools <(.*?)>')
SLOT = re.compile(r'pipe\.slot "(\w)" microbatch (\d+) chunk (\d+)')
TRANSFER = re.compile(r"#pipe\.transfer<send = (\w+), value = (\w)\w*, microbatch = (\d+), "
                      r"virtual_stage = (\d+), peer = (\d+), slot = (\d+)>")
FORWARD_ONLY = "forward-only"
POOLS = ("recv_activation", "send_activation", "recv_gradient", "send_gradient", "saved")


def timelines(text):
    """By entry: of each stage the pools, and items as the golden file writes them."""
    found = {}
    for line in text.splitlines():
        if begin := TIMELINE.search(line):
            pools = {name: int(count) for name, count in
                     (each.split(" = ") for each in begin[3].split(", ") if each)}
            items = []
            found.setdefault(begin[1], {})[int(begin[2])] = pools, items
        elif slot := SLOT.search(line):
            items.append(slot.groups())
        elif "pipe.exchange" in line:
            items.append([("<>"[send == "true"], peer, value, microbatch, stage, buffer)
                          for send, value, microbatch, stage, peer, buffer
                          in TRANSFER.findall(line)])
    return found


def written(item, chunks):
    if isinstance(item, tuple):
        phase, microbatch, chunk = item
        return f"{phase}{microbatch}.{chunk}" if chunks > 1 else phase + microbatch
    return "{" + " ".join("{}{}:{}{}.{}@{}".format(*each) for each in item) + "}"


class Tester:
    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder

    def compiled(self, case, overlap):
        p, m, v = case["p"], case["m"], case["v"]
        spec = os.path.join(self.folder, "spec.toml")
        with open(spec, "w") as file:
            file.write(small_spec(False, name="golden", vocab=32, padded=32, longest=8, hidden=16, heads=4, ffn=32, layers=p * v,
                                  dropout=0.0, norm="layer_norm", qkv="fused", kv_heads=4))
        name = case["schedule"]
        if name == FORWARD_ONLY:  # the entry "eval" of a schedule that trains
            name = "interleaved-1f1b" if v > 1 else "1f1b"
        group = ["--microbatch-group", case["G"]] if case["G"] and v > 1 else []
        out = os.path.join(self.folder, "out.mlir")
        self.mtc.call("compile", spec, "--pp", p, "--gbs", m, "--mbs", 1, "--chunks", v, *group,
                      "--schedule", name, "--overlap", overlap, "--compile-to",
                      "expand-schedule", "-o", out)
        with open(out) as file:
            entries = timelines(file.read())
        return entries["eval" if case["schedule"] == FORWARD_ONLY else "train"]

    def check(self, case):
        name = "{schedule} p{p} m{m} v{v} G{G}".format(**case)
        plain, posted = self.compiled(case, "none"), self.compiled(case, "p2p")
        for found in (plain, posted):
            slots = [" ".join(written(item, case["v"]) for item in found[stage][1]
                              if isinstance(item, tuple)) for stage in sorted(found)]
            self.report.expect(slots == case["slots"],
                               f"{name}: expected {case['slots']}, found {slots}")
        if case["p"] > 1:
            self.exchanges(name, case, plain)
        self.buffers(name, case, plain)
        self.posted_buffers(name, case, plain, posted)

    def exchanges(self, name, case, found):
        """Those of one depth of receiving ahead."""
        lines = [" ".join(written(item, case["v"]) for item in found[stage][1])
                 for stage in sorted(found)]
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
        depths = {depth for depth, plan in case["expand"].items() if plan["sha"] == digest}
        self.report.expect(depths, f"{name}: found other exchanges: {lines}")

    def buffers(self, name, case, found):
        """Those of one depth."""
        for stage, (pools, _) in found.items():
            wanted = [{pool: plan["slots"][pool][stage] for pool in POOLS}
                      for plan in case["expand"].values()]
            pools = {pool: pools.get(pool, 0) for pool in POOLS}
            self.report.expect(pools in wanted, f"{name}, stage {stage}: expected one of "
                               f"{wanted}, found {pools}")

    def posted_buffers(self, name, case, plain, posted):
        """mtc posts ahead only what times ask for: between those of whole exchanges, which are
        made at once, and those of the golden file, which posts all as early as can be."""
        for stage, (pools, _) in posted.items():
            for pool in POOLS:
                count, least = pools.get(pool, 0), min(1, plain[stage][0].get(pool, 0))
                most = max(plan["overlap_slots"].get(pool, plan["slots"][pool])[stage]
                           for plan in case["expand"].values())
                self.report.expect(least <= count <= most, f"{name}, stage {stage}: expected "
                                   f"{least} to {most} slots of {pool}, found {count}")


def main():
    mtc, report = Mtc(), Report()
    with open(os.path.join(sys.argv[2], "schedules", "schedules.json")) as file:
        cases = json.load(file)["cases"]
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, report, folder)
        for case in cases:
            tester.check(case)

    return report.finish(f"{len(cases)} schedules")


if __name__ == "__main__":
    sys.exit(main())
