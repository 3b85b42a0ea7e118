#!/usr/bin/env python3
"""Launches of a step are those of every other.

usage: test_launches.py BIN_DIR STAND_INS

What differs from step to step lies in memory of the GPU: the stand-in of the driver notes what the
host puts into streams, kernels with their shapes and all parameters, the other calls with their
addresses, and of steps that are launched one by one the second and the third have equal lists: with
dropout, clipping and ZeRO, on two streams, with products of cuBLASLt and of our own. A step that is
a graph is one launch and two small copies: the step's order and tokens in one, results in the
other; of a stage in the middle of a pipeline the order alone.
"""

import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from test_bundles import TARGET, TINY, Tester
from layouts import Layout
from run_layout import Failed, Mtc, Report
from small_spec import small_spec

STEPS = 5
CASES = [("bf16", Layout(dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=800), {}),
         ("f32", Layout(tp=2, dp=1), {"MTC_CUDA_GEMM": "own"})]
TOKEN_BYTES = 256  # tokens or labels of 8 samples of 8, of four bytes
PIPELINE = Layout(tp=1, dp=1, pp=3)
LINE = r"rank (\d+): ([^:]*): (.*)"
# The step's order goes to the GPU, which makes the block of it, or all that is in a graph: so a step begins.
ORDER, BEGIN = r"copy of (\d+) bytes from the host to the device to \w+", r"kernel mtc_cuda_step_begin "
GRAPH, RESULTS = r"graph of \d+ nodes", r"copy of (\d+) bytes from the device to the host from \w+"


def steps_of(lines):
    """The calls of each step; what comes before the first is left out."""
    begins = [i for i in range(len(lines) - 1) if re.search(ORDER, lines[i]) and re.search(f"{BEGIN}|{GRAPH}", lines[i + 1])]
    return [lines[begin:end] for begin, end in zip(begins, begins[1:] + [len(lines)])]


def calls(tester, bundle, name, *options, ranks=2, **environment):
    """By rank, the calls of each step."""
    file = os.path.join(tester.folder, f"calls-{name}")
    tester.on_gpu(bundle, name, 3, "--clip", "0.01", *options, steps=STEPS, MTC_STANDIN_CALLS=file,
                  MTC_STANDIN_IDLE="0.1", **environment)
    lines = {}
    with open(file) as text:
        for rank, stream, what in re.findall(LINE, text.read()):
            lines.setdefault(rank, []).append(f"{stream}: {what}")
    found = {rank: steps_of(own) for rank, own in sorted(lines.items())}
    tester.report.expect(len(found) == ranks and all(len(steps) == STEPS for steps in found.values()),
                         f"{name}: expected {STEPS} steps of {ranks} ranks, found {[*map(len, found.values())]} of {sorted(found)}")
    return found


def check_one_by_one(tester, name, ranks):
    for rank, (_, second, third, *_) in ranks.items():
        kernels = sum(" kernel " in line for line in second)
        other = [pair for pair in zip(second, third) if pair[0] != pair[1]]
        tester.report.expect(kernels > 50 and len(second) == len(third) and not other,
                             f"{name}, rank {rank}: expected the {len(second)} calls of step 2 in step 3, "
                             f"found {len(third)}, others than in step 2: {other[:3]}")


def check_graph(tester, name, ranks, inputs):
    """Behind a step whose gradients are dumped, one that prepares libraries, and one that is captured. `inputs`: of
    each rank, tokens and labels."""
    for (rank, steps), bytes_in in zip(ranks.items(), inputs):
        bytes_in += int(re.search(ORDER, steps[0][0])[1])
        for step in steps[3:]:
            calls = "\n".join(line.split(": ", 1)[1] for line in step) + "\n"
            found = re.fullmatch(f"{ORDER}\n{GRAPH}\n{RESULTS}\n", calls)
            tester.report.expect(found and int(found[1]) == bytes_in, f"{name}, rank {rank}: expected a graph and two "
                                 f"copies, one of {bytes_in} bytes with the order, found\n{calls[:1000]}")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        spec = os.path.join(folder, "tiny.toml")
        with open(spec, "w") as file:
            file.write(small_spec(tied=True, **TINY))
        for dtype, layout, environment in CASES:
            bundle = tester.compile(dtype, layout, *TARGET, spec=spec)
            check_one_by_one(tester, layout.name, calls(tester, bundle, f"single-{dtype}", "--no-graph", **environment))
        check_graph(tester, layout.name, calls(tester, bundle, "graph", **environment), [2 * TOKEN_BYTES] * 2)
        with open(spec, "w") as file:
            file.write(small_spec(tied=True, **{**TINY, "layers": 3}))
        bundle = tester.compile("f32", PIPELINE, *TARGET, spec=spec)
        check_graph(tester, PIPELINE.name, calls(tester, bundle, "stages", ranks=3), [TOKEN_BYTES, 0, TOKEN_BYTES])
    return report.finish("launches of steps")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
