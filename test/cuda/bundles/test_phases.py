#!/usr/bin/env python3
"""Long steps of a GPU: graphs of warm-up, period and cool-down.

usage: test_phases.py BIN_DIR STAND_INS

A step of more nodes than a graph is to have, whose microbatches repeat, is a graph for its warm-up,
one for a period, launched again and again, and one for its cool-down. Which microbatch it is the
GPU counts. So a step of twice as many microbatches has as many nodes in its graphs, but for what is
left of a period's repeats; losses, norms and gradients have the bits of launches one by one, with
dropout, whose masks are of the samples, on one rank, on stages of 1F1B and of chunks, and where
ranks reduce gradients beside the last backward. So have evaluations, and steps of fp16 that are
skipped.
"""

import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from test_bundles import LAUNCHED, TARGET, TINY, End, Tester
from layouts import Layout
from run_layout import Failed, Mtc, Report
from small_spec import small_spec

STEPS = 4  # the second, the third and, in two parts, the fourth are graphs
# The layout, microbatches of a step, twice as many, and from how many nodes on a graph is full.
CASES = [(Layout(micro_batch=1), 12, 24, 60),
         (Layout(pp=3, micro_batch=1), 15, 30, 100),
         (Layout(pp=2, chunks=2, schedule="interleaved-1f1b", micro_batch=1), 24, 48, 250),
         (Layout(dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=800, micro_batch=1), 12, 24, 200)]


def numbers_of(text):
    """Of each rank, in order: launches, nodes of all launches, nodes of the graphs."""
    return sorted((int(launched), int(nodes), int(kept)) for launched, nodes, kept in
                  re.findall(r"launched (\d+) graphs of (\d+) nodes, .* by \d+ instances of (\d+)", text))


def run_graphs(tester, name, bundle, most):
    """What a run gives, and what the stand-ins say of its graphs."""
    said = os.path.join(tester.folder, name, "said")
    found = tester.on_gpu(bundle, name, 1, steps=STEPS, says=f"({LAUNCHED % ((r'[0-9]+',) * 3)})+",
                          what=f"grads@{STEPS}", MTC_STANDIN_GRAPHS="1", MTC_CUDA_GRAPH_NODES=str(most))
    with open(said) as file:
        return found, numbers_of(file.read())


def check_case(tester, spec, layout, few, many, most):
    name = f"{layout.name}-{most}"
    bundle = tester.compile("f32", layout, *TARGET, spec=spec, batch=few * layout.dp)
    _, less = run_graphs(tester, f"{name}-{few}", bundle, most)
    bundle = tester.compile("f32", layout, *TARGET, spec=spec, batch=many * layout.dp)
    graphs, more = run_graphs(tester, f"{name}-{many}", bundle, most)
    single = tester.on_gpu(bundle, f"{name}-single", 2, "--no-graph", steps=STEPS, what=f"grads@{STEPS}")
    tester.report.expect(graphs == single, f"{name}: expected the bits of launches one by one, {single[:2]}, found {graphs[:2]}")
    print(f"{name}: {less}, {more}", flush=True)
    for (_, nodes, kept), (launched, more_nodes, more_kept) in zip(less, more):
        # What is left of a period's repeats is less than a graph, or a period, if that is longer: with chunks as many
        # as ten microbatches.
        left = max(2 * most, (more_nodes - nodes) / (STEPS - 1) / 2)
        tester.report.expect(more_nodes > 1.6 * nodes and more_kept < kept + left,
                             f"{name}: expected graphs as for {few} microbatches for {many}, found {kept} nodes and {more_kept} "
                             f"for {nodes} and {more_nodes} that are launched")
        tester.report.expect(launched * most < 3 * more_nodes, f"{name}: expected as many repeats in a graph of {most} nodes as it "
                             f"has room for, found {launched} launches of {more_nodes}")


def told(end):
    """What a log has, without times, of steps and of evaluations; and the parameters."""
    keys = ("step", "loss", "grad_norm", "eval_loss", "lr", "loss_scale", "skipped_steps")
    return end.code, [[row.get(key) for key in keys] for row in end.rows], end.saved


def check_skips(tester, spec):
    """Steps of fp16 whose scale is too large at first, between evaluations."""
    bundle = tester.compile("fp16", Layout(micro_batch=1), *TARGET, spec=spec, batch=12)
    options = ["--steps", "7", "--initial-loss-scale", str(2 ** 24), "--loss-scale-window", "1", "--hysteresis", "1",
               "--eval-data", tester.data, "--eval-interval", "3", "--eval-steps", "2"]
    graphs, single = (End(tester, bundle, *options, *more, LD_LIBRARY_PATH=tester.stand_ins, **environment) for more, environment in
                      (((), {"MTC_CUDA_GRAPH_NODES": "60", "MTC_STANDIN_SEED": "1"}), (("--no-graph",), {"MTC_STANDIN_SEED": "2"})))
    steps = [row for row in graphs.rows if "loss" in row]
    skipped = [row["skipped_steps"] for row in steps]
    tester.report.expect(0 < skipped[-1] < len(steps) and len(graphs.rows) > len(steps),
                         f"expected steps that are skipped, others, and evaluations, found {graphs.rows}")
    tester.report.expect(told(graphs) == told(single), f"skipped steps: expected {told(single)[:2]}, found {told(graphs)[:2]}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        spec = os.path.join(folder, "tiny.toml")
        for layout, few, many, most in CASES:
            with open(spec, "w") as file:
                file.write(small_spec(tied=True, **{**TINY, "layers": max(1, layout.pp * layout.chunks)}))
            check_case(tester, spec, layout, few, many, most)
        with open(spec, "w") as file:
            file.write(small_spec(tied=True, **TINY))
        check_skips(tester, spec)
    return report.finish("steps of many microbatches under stand-ins")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
