#!/usr/bin/env python3
"""What the host has of a step that is a graph.

usage: test_host.py BIN_DIR STAND_INS

`mtc run --profile` of a bundle for GPUs tells how long the host issues a step, measured in steps
behind and in front of those that it traces, which are launched one by one: in the file, and in
words on standard error. Launches and copies that it tells are all that the stand-in of
the driver counts in these steps. Its times hold none of what the GPU does: under orders in which
the stand-in does all work where somebody waits for it, they are a small part of a step.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from test_bundles import ALONE, TARGET, TINY, Tester
from test_launches import LINE, steps_of
from layouts import Layout
from run_layout import Failed, Mtc, Report
from small_spec import small_spec

ENDED = 9  # exit code: behind --exit-interval, with a checkpoint
LATE = {1: "2", 2: "11"}  # seeds under which no rank does anything but what is waited for
PARTS = ("block", "tokens", "graphs", "results")
SAID = (r"(?:\[rank \d+\] )?host: a step is issued in (?P<issue>[\d.]+) ms, (?P<share>[\d.]+) % of the (?P<step>[\d.]+) ms that it takes "
        r"\(step block (?P<block>[\d.]+), tokens (?P<tokens>[\d.]+), (?P<count>\d+) graphs? (?P<graphs>[\d.]+), "
        r"results (?P<results>[\d.]+); medians of (?P<steps>\d+) steps?\)\n")


class Hosts(Tester):
    def profile(self, name, bundle, ranks, steps, *options, code=0, **environment):
        """otherData of the file, what standard error has, and by rank the calls of each step."""
        file, calls = (os.path.join(self.folder, f"{name}.{end}") for end in ("json", "calls"))
        done = subprocess.run([self.mtc.program, "run", bundle, "--quiet", "--data", self.data, "--data-type", "u8",
                               "--steps", str(steps), "--warmup", "1", "--profile", file, *map(str, options)],
                              capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, LD_LIBRARY_PATH=self.stand_ins, MTC_STANDIN_SEED=LATE[ranks],
                                       MTC_STANDIN_DEVICES=str(ranks), MTC_STANDIN_IDLE="0.1",
                                       MTC_STANDIN_CALLS=calls, **environment))
        if done.returncode != code:
            raise Failed(f"{name}: exit code {done.returncode}: {done.stderr}")
        with open(file) as text:
            about = json.load(text)["otherData"]
        with open(calls) as text:
            lines = re.findall(LINE, text.read())
        return about, done.stderr, [steps_of([f"{stream}: {what}" for rank, stream, what in lines if rank == str(own)])
                                    for own in range(ranks)]


def count(step, word):
    return sum(line.split(": ", 1)[1].startswith(word) for line in step)


def check_figures(tester, name, found, timed, graphs):
    """Of each rank: as many steps as are `timed` (slices of all), each with the calls that are told."""
    about, said, calls = found
    hosts = about.get("host", [])
    tester.report.expect([host["rank"] for host in hosts] == list(range(len(calls))),
                         f"{name}: expected figures of {len(calls)} ranks, found {about}")
    for host, steps in zip(hosts, calls):
        steps = steps[timed]
        counted = [(count(step, "graph of"), count(step, "copy of"), len(step)) for step in steps]
        tester.report.expect(host["steps"] == len(steps) and host["graphs"] in graphs
                             and counted == [(host["graphs"], host["copies"], host["graphs"] + host["copies"])] * len(steps)
                             and host["copies"] == 2,
                             f"{name}: expected the calls of {counted}, found {host}")
        parts = [host[f"{part}_seconds"] for part in PARTS]
        # Medians of parts need not add up to that of their sum; no one is more.
        tester.report.expect(0 < min(parts) and max(parts) <= host["issue_seconds"] <= 4 * max(parts)
                             and abs(host["share"] * host["step_seconds"] - host["issue_seconds"]) < 1e-9
                             and host["share"] < 0.5, f"{name}: found {host}")
    told = re.fullmatch(SAID, said)
    known = hosts[0]  # all are on the last stage: the first tells
    figures = {"issue": 1e3 * known["issue_seconds"], "step": 1e3 * known["step_seconds"], "share": 100 * known["share"],
               "count": known["graphs"], "steps": known["steps"],
               **{part: 1e3 * known[f"{part}_seconds"] for part in PARTS}}
    tester.report.expect(told and all(abs(float(told[key]) - value) < 0.006 for key, value in figures.items()),
                         f"{name}: expected {figures} in words, found {said}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Hosts(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        spec = os.path.join(folder, "tiny.toml")
        with open(spec, "w") as file:
            file.write(small_spec(tied=True, **TINY))
        bundle = tester.compile("bf16", ALONE, *TARGET, spec=spec)
        # Behind two that are traced: one prepares libraries, one is captured.
        check_figures(tester, "behind", tester.profile("behind", bundle, 1, 9, "--profile-step-end", 2), slice(4, 9), {1})
        about, said, _ = tester.profile("all", bundle, 1, 2)
        report.expect(about["host"] == [{"rank": 0, "steps": 0}] and "host: no step was issued as a graph" in said,
                      f"all steps are traced: found {about}, {said}")
        # It ends before the host is timed: the traced steps are there all the same.
        about, said, _ = tester.profile("early", bundle, 1, 60, "--profile-step-end", 2, "--exit-interval", 4,
                                        "--checkpoints", os.path.join(folder, "saved"), code=ENDED)
        report.expect("host" not in about and "host:" not in said, f"a run that ends early: found {about}, {said}")
        about, said, _ = tester.profile("single", bundle, 1, 3, "--profile-step-end", 1, "--no-graph")
        report.expect("host" not in about and not said, f"no graphs: found {about}, {said}")
        bundle = tester.compile("bf16", Layout(dp=2, zero=1), *TARGET, spec=spec)
        check_figures(tester, "in front", tester.profile("front", bundle, 2, 7, "--profile-step-start", 6, "--profile-step-end",
                                                         7, MTC_CUDA_GRAPH_NODES="40"), slice(2, 5), {2, 3, 4, 5})
    return report.finish("the host's part of a step")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
