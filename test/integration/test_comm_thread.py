"""Collectives on a thread of their own, beside what a cpu rank computes.

With `--comm-thread` a plan has two streams: losses, norms, gradients of step 1 and final
parameters are those of the layout without it, to the bit, on both transports; and every
stage says that it has the streams. On the lagging device (runtime/device/lagging), where
a collective ends only once the other stream has gone on, a trace shows sums of gradients
beside products of the last backward: by construction, on a machine of any load.

usage: test_comm_thread.py BIN_DIR
"""

import dataclasses
import json
import os
import sys
import tempfile

import corpus
import precision
import safetensors
from layouts import Layout
from run_layout import Mtc, Report

STEPS = 2
BUCKET = 20000  # about a layer of the model
TIED, UNTIED = "gpt2-nano", "gpt2-nano-untied"
F32 = "f32"
BOTH, ALL = "p2p,grad-reduce", "p2p,grad-reduce,param-gather"
# 2 to 8 ranks: each kind of collective, transfers beside them, and each place of sums.
RUNS = [
    (TIED, F32, Layout(dp=2, overlap=BOTH, bucket=BUCKET)),
    (TIED, F32, Layout(2, sp=True)),
    (TIED, F32, Layout(1, 4, overlap="none")),
    (TIED, F32, Layout(dp=2, zero=1, recompute="full", overlap=BOTH, bucket=BUCKET)),
    (TIED, F32, Layout(dp=2, zero=2, bucket=BUCKET)),
    (TIED, F32, Layout(1, 2, 2, 1, "zb-h1", overlap=BOTH, bucket=BUCKET)),
    (UNTIED, F32, Layout(1, 2, 2, 0, "interleaved-1f1b", chunks=2, overlap=BOTH,
                         bucket=BUCKET)),
    (TIED, F32, Layout(2, cp=2, sp=True, overlap=BOTH, bucket=BUCKET)),
    (TIED, F32, Layout(2, 2, 2, 1, sp=True, overlap=BOTH, bucket=BUCKET)),
    (TIED, F32, Layout(1, 2, 2, 1, overlap=ALL, bucket=BUCKET)),
    (TIED, "bf16", Layout(2, 2, 2, 2, overlap="p2p,param-gather", bucket=BUCKET)),
]
# By turns, and none by chance: the first layout has them both.
COMMS = (("shm",), ("threads", "--strict"))


class Tester:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)

    def compile(self, spec, dtype, layout):
        bundle = os.path.join(self.folder, "bundle")
        self.mtc.compile(spec, layout, bundle, precision.options(dtype))
        return bundle

    def bits(self, bundle, comm):
        """What a run computes."""
        out = os.path.join(self.folder, "out")
        log = self.mtc.run(bundle, ["--data", self.data, "--data-type", "u8", "--steps", STEPS],
                           out, comm, dumps=("grads", "params"))
        digests = [safetensors.digest(safetensors.read(os.path.join(out, f"{name}.safetensors")))
                   for name in ("grads", "params")]
        return [(step["loss"], step["grad_norm"]) for step in log], digests

    def streams(self, bundle):
        """Of each program."""
        folder = os.path.join(bundle, "programs")
        return {json.loads(self.mtc.call("inspect", os.path.join(folder, name),
                                         "--json").stdout)["streams"]
                for name in os.listdir(folder) if "." not in name}


def traced(tester, layout, device):
    """The spans of a trace of the last step, by rank and stream, and whether the file is
    all there is."""
    bundle = tester.compile(TIED, F32, layout)
    file = os.path.join(tester.folder, "trace", "step.json")
    os.makedirs(os.path.dirname(file), exist_ok=True)
    os.environ["MTC_DEVICE"] = device
    try:
        tester.mtc.call("run", bundle, "--quiet", "--data", tester.data, "--data-type", "u8",
                        "--steps", STEPS, "--trace", file)
    finally:
        del os.environ["MTC_DEVICE"]
    with open(file) as text:
        trace = json.load(text)
    assert trace["otherData"]["step"] == STEPS
    found = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found.setdefault((event["pid"], event["tid"]), []).append(event)
    return found, os.listdir(os.path.dirname(file)) == ["step.json"]


def intersect(one, other):
    return (one["ts"] <= other["ts"] + other["dur"]
            and other["ts"] <= one["ts"] + one["dur"])


def check_overlap(tester, report, layout):
    """Sums of gradients run beside products of their rank's last backward. Behind the
    last two buckets, which end with the tables and the first layer, stand no products."""
    found, is_alone = traced(tester, layout, "lagging")
    report.expect(is_alone, "expected the trace alone in its folder")
    for rank in range(layout.ranks):
        products = [e for e in found[rank, 0] if e["cat"] == "gemm"]
        sums = [e for e in found.get((rank, 1), ())
                if "bucket" in e["args"] and e["args"]["fragment"].endswith("_bwd_last")]
        beside = [any(intersect(e, p) for p in products) for e in sums]
        report.expect(len(sums) > 2 and all(beside[:-2]),
                      f"rank {rank}: expected all sums of the last backward but the last "
                      f"two beside a product, found {beside}")


def check_one_stream(tester, report, layout):
    """The same without the thread: no product runs beside a sum."""
    found, _ = traced(tester, dataclasses.replace(layout, comm_thread=False), "cpu")
    for rank in range(layout.ranks):
        products = [e for e in found[rank, 0] if e["cat"] == "gemm"]
        sums = [e for e in found[rank, 0] if "bucket" in e["args"]]
        beside = [e["name"] for e in sums if any(intersect(e, p) for p in products)]
        report.expect(sums and not beside and (rank, 1) not in found,
                      f"rank {rank} of one stream: expected sums beside no product, "
                      f"found {beside} of {len(sums)}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(mtc, folder)
        for i, (spec, dtype, layout) in enumerate(RUNS):
            name = f"{spec} {dtype} {layout.name}"
            bundle = tester.compile(spec, dtype, layout)
            wanted = tester.bits(bundle, COMMS[0])
            bundle = tester.compile(spec, dtype,
                                    dataclasses.replace(layout, comm_thread=True))
            streams = tester.streams(bundle)
            report.expect(streams == {2}, f"{name}: expected two streams, found {streams}")
            for comm in COMMS if i == 0 else COMMS[i % 2:][:1]:
                found = tester.bits(bundle, comm)
                report.expect(found == wanted, f"{name} on {comm[0]}: expected {wanted} of "
                              f"one stream, found {found}")
        overlapping = Layout(dp=2, overlap=BOTH, bucket=BUCKET, comm_thread=True)
        check_overlap(tester, report, overlapping)
        check_one_stream(tester, report, overlapping)
    return report.finish(f"{len(RUNS)} layouts with a thread of collectives")


if __name__ == "__main__":
    sys.exit(main())
