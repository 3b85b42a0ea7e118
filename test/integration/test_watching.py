"""What a run shows of itself, read by readers of our own.

The log has a header and its numbers agree with each other; named times add up to the step;
operations of the model are the closed form of the specs; TensorBoard's files have checksums
that hold and the numbers of the log; a trace has rows, fragments and transfers of the plan,
nested; a plot's curves go through the points of the log, by the axes that it draws.

usage: test_watching.py BIN_DIR
"""

import json
import math
import os
import re
import struct
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

import corpus
import event_files
from layouts import Layout
from run_layout import Failed, Mtc, Report, read_log

STEPS = 6
RUNS = [("shm", Layout(2, 2, 2, 1)), ("threads", Layout(dp=2))]
SVG = "{http://www.w3.org/2000/svg}"


def near(expected, found, tolerance, what):
    if abs(expected - found) > tolerance:
        raise Failed(f"{what}: expected {expected}, found {found}")


def same(expected, found, what):
    if expected != found:
        raise Failed(f"{what}: expected {expected}, found {found}")


class Tester:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder
        self.data = self.path("data.bin")
        corpus.write(self.data)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, bundle, comm, *options):
        return self.mtc.call("run", bundle, "--data", self.data, "--data-type", "u8",
                             "--comm", comm, "--quiet", *options)

    def of_layout(self, comm, layout):
        bundle = self.mtc.compile("gpt2-nano", layout, self.path("bundle" + comm))
        log, events, trace = (self.path(comm + name) for name in (".jsonl", "-tb", ".json"))
        done = self.run(bundle, comm, "--steps", STEPS, "--log", log, "--peak-tflops", 0.5,
                        "--timing-log-level", 1, "--tensorboard-dir", events,
                        "--log-style", "megatron", "--profile", trace,
                        "--profile-step-start", 2, "--profile-step-end", 3)
        header, *rows = read_lines(log)
        same(rows, read_log(log), "lines behind the header")
        check_header(header, layout)
        check_rows(header, rows)
        check_events(events, rows)
        check_megatron(done.stdout, rows)
        self.check_trace(trace, bundle, layout)
        self.check_plot(log, rows, "loss", "step", [])
        self.check_plot(log, rows, "tokens_per_s", "tokens", ["--log-y"])
        self.check_plot(events, rows, "loss", "step", [])
        file, = os.listdir(events)
        self.check_plot(os.path.join(events, file), rows, "tokens_per_s", "tokens", ["--log-y"])

    def resumed(self):
        """A second run adds a header and an event file, and the plot has one curve."""
        bundle, log = self.path("bundlethreads"), self.path("again.jsonl")
        common = ("--log", log, "--append", "--checkpoints", self.path("saved"), "--resume",
                  "--tensorboard-dir", self.path("again"), "--log-interval", 2)
        for steps in (3, 8):
            self.run(bundle, "threads", "--steps", steps, *common)
        lines = read_lines(log)
        same([0, 3], [line["start_step"] for line in lines if "header" in line], "headers")
        same([2, 3, 4, 6, 8], [row["step"] for row in read_log(log)], "steps of the log")
        files = sorted(os.listdir(self.path("again")))
        same(2, len(files), "event files")
        starts = {event["step"] for name in files
                  for event in event_files.events(os.path.join(self.path("again"), name))
                  if "start" in event}
        same({1, 4}, starts, "first steps of the event files")
        self.check_plot(self.path("again"), read_log(log), "grad_norm", "step", [])

    def programs(self, bundle, layout):
        """Descriptors by stage."""
        return [json.loads(self.mtc.call(
            "inspect", os.path.join(bundle, "programs", f"stage{stage}"), "--json").stdout)
            for stage in range(layout.pp)]

    def check_trace(self, path, bundle, layout):
        programs = self.programs(bundle, layout)
        with open(path) as file:
            trace = json.load(file)
        same(programs[0]["plan_hash"], trace["otherData"]["plan_hash"], "plan of the trace")
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        same(set(range(layout.ranks)), {span["pid"] for span in spans}, "ranks of the trace")
        for rank in range(layout.ranks):
            program = programs[rank // (layout.ranks // layout.pp)]
            entry, = (e for e in program["entries"] if e["name"] == "train")
            for step in (2, 3):
                mine = [s for s in spans if s["pid"] == rank and s["args"]["step"] == step]
                rows = [s for s in mine if s["cat"] not in
                        ("collective", "gemm", "wait-collective")]
                same(list(range(entry["length"])), [s["args"]["row"] for s in rows],
                     f"rows of rank {rank} in step {step}")
                for span in rows:
                    if span["cat"] == "fragment":
                        same(True, span["args"]["fragment"] in program["fragments"],
                             f"fragment {span['args']['fragment']}")
            check_nesting([s for s in spans if s["pid"] == rank], rank)

    def check_plot(self, log, rows, key, x, options):
        svg, png = self.path("plot.svg"), self.path("plot.png")
        self.mtc.call("plot", log, "--y", key, "--x", x, *options, "--svg", svg, "--png", png)
        root = ElementTree.parse(svg).getroot()
        curve, = (line for line in root.iter(SVG + "polyline")
                  if (line.get("data-label") or "").endswith(": " + key))
        points = [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
        same(len(rows), len(points), "points of the curve")
        across = axis(root, "middle", "x", False)
        up = axis(root, "end", "y", "--log-y" in options)
        for row, (px, py) in zip(rows, points):
            near(px, across(row[x]), 0.6, f"{x} of step {row['step']} in pixels")
            near(py, up(row[key]), 0.6, f"{key} of step {row['step']} in pixels")
        check_png(png, int(root.get("width")), int(root.get("height")))


def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def check_header(header, layout):
    same(layout.ranks, header["ranks"], "ranks")
    same(layout.tp, header["mesh"]["tp"], "tp")
    same(STEPS, header["recipe"]["steps"], "steps of the recipe")
    same(header["recipe"]["seed"], header["seed"], "seed")
    (seq, flops), = header["flops_per_token"].items()
    # The sizes of gpt2-nano: 72·L·h²·(1 + s/(6h) + V/(12·h·L)) with the padded vocabulary.
    h, layers, vocab, s = 64, 4, 256, int(seq)
    expected = 72 * layers * h * h * (1 + s / (6 * h) + vocab / (12 * h * layers))
    near(expected, flops, 1e-9 * expected, "operations of the model a token")


def check_rows(header, rows):
    same(list(range(1, STEPS + 1)), [row["step"] for row in rows], "steps")
    flops, = header["flops_per_token"].values()
    batch = header["global_batch"]
    for row in rows:
        same(batch * row["step"], row["samples"], "samples")
        near(row["tokens_per_s"] * flops / header["ranks"] / 1e12, row["tflops"],
             1e-9 * row["tflops"], "TFLOP/s")
        near(row["tflops"] / 0.5, row["mfu"], 1e-9, "MFU")
        times = row["times_ms"]
        for name, (least, mean, largest) in times.items():
            if not 0 <= least <= mean * 1.00001 <= largest * 1.0001:
                raise Failed(f"times of {name}: expected least <= mean <= largest, found "
                             f"{least}, {mean}, {largest}")
        # Each rank's parts add up to its step, and so do the means: sums of fp32.
        total = sum(mean for name, (_, mean, _) in times.items() if name != "step")
        least, step, largest = times["step"]
        near(step, total, 1e-4 * step, "sum of the times")
        # The rank that logs is one of them. Its number is a double.
        if not 0.9999 * least <= row["step_ms"] <= 1.0001 * largest:
            raise Failed(f"step_ms {row['step_ms']} is of no rank: {times['step']}")
        for name in ("forward", "backward", "optimizer"):
            if times[name][2] <= 0:
                raise Failed(f"times of {name}: expected some, found {times[name]}")


def check_events(folder, rows):
    name, = os.listdir(folder)
    first, second, *events = event_files.events(os.path.join(folder, name))
    same("brain.Event:2", first["version"], "version of the events")
    same((1, True), (second["step"], second["start"]), "start of the events")
    same(["run"], [tag for event in events for tag in event["texts"]], "texts")
    events = [event for event in events if event["scalars"]]
    same([row["step"] for row in rows], [event["step"] for event in events], "steps")
    for row, event in zip(rows, events):
        for tag, key in (("train/loss", "loss"), ("train/grad_norm", "grad_norm"),
                         ("train/lr", "lr"), ("speed/tokens_per_s", "tokens_per_s"),
                         ("speed/mfu", "mfu")):
            same(as_float(row[key]), event["scalars"][tag], tag)
        same(as_float(row["times_ms"]["forward"][1]), event["scalars"]["time/forward"],
             "time/forward")


def check_megatron(text, rows):
    lines = [line for line in text.splitlines() if "iteration" in line and "|" in line]
    same(len(rows), len(lines), "lines of Megatron's form")
    pattern = (r" \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] iteration +(\d+)/ +(\d+) \| consumed samples: "
               r"+(\d+) \| elapsed time per iteration \(ms\): [\d.]+ \| throughput per GPU "
               r"\(TFLOP/s/GPU\): [\d.]+ \| learning rate: [\d.]+E[-+]\d\d \| global batch size: +\d+ "
               r"\| lm loss: ([\d.]+E[-+]\d\d) \| loss scale: 1.0 \| grad norm: [\d.]+ \| number of "
               r"skipped iterations: +0 \| number of nan iterations: +0 \|")
    for row, line in zip(rows, lines):
        found = re.fullmatch(pattern, line)
        if not found:
            raise Failed(f"expected a line of Megatron's form, found {line!r}")
        same((row["step"], STEPS, row["samples"]), tuple(map(int, found.groups()[:3])), line)
        near(row["loss"], float(found[4]), 1e-6 * row["loss"], line)


def check_nesting(spans, rank):
    """On each stream a span lies in another or beside it."""
    for stream in {span["tid"] for span in spans}:
        mine = sorted((s for s in spans if s["tid"] == stream),
                      key=lambda s: (s["ts"], -s["dur"]))
        open_ends = []
        for span in mine:
            end = span["ts"] + span["dur"]
            while open_ends and open_ends[-1] <= span["ts"]:
                open_ends.pop()
            if open_ends and end > open_ends[-1] + 1e-6:
                raise Failed(f"rank {rank}, stream {stream}: {span['name']} overlaps its parent")
            open_ends.append(end)


def axis(root, anchor, coordinate, is_log):
    """From values to pixels, by two ticks of an axis as people read them."""
    ticks = []
    for label in root.iter(SVG + "text"):
        text = label.text
        found = re.fullmatch(r"(-?[\d.]+(?:e[-+]?\d+)?)([kMGT]?)", text or "")
        if label.get("text-anchor") == anchor and found:
            value = float(found[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found[2]]
            at = float(label.get(coordinate)) - (4 if coordinate == "y" else 0)
            ticks.append((math.log(value) if is_log else value, at))
    if len(ticks) < 2:
        raise Failed(f"expected two ticks, found {ticks}")
    (a, at_a), (b, at_b) = ticks[0], ticks[-1]
    return lambda value: at_a + ((math.log(value) if is_log else value) - a) * (
        at_b - at_a) / (b - a)


def check_png(path, width, height):
    with open(path, "rb") as file:
        data = file.read()
    same(b"\x89PNG\r\n\x1a\n", data[:8], "signature of the PNG")
    at, chunks = 8, []
    while at < len(data):
        size, = struct.unpack_from(">I", data, at)
        body = data[at + 4:at + 8 + size]
        same(zlib.crc32(body), struct.unpack_from(">I", data, at + 8 + size)[0], "CRC of a chunk")
        chunks.append((body[:4], body[4:]))
        at += 12 + size
    same([b"IHDR", b"IDAT", b"IEND"], [kind for kind, _ in chunks], "chunks")
    same((2 * width, 2 * height, 8, 2, 0, 0, 0), struct.unpack(">IIBBBBB", chunks[0][1]), "IHDR")
    rows = zlib.decompress(chunks[1][1])
    same(2 * height * (6 * width + 1), len(rows), "bytes of the picture")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), folder)
        for what, run in [*((f"{comm}, {layout.name}", lambda comm=comm, layout=layout:
                             tester.of_layout(comm, layout)) for comm, layout in RUNS),
                          ("a run that goes on", tester.resumed)]:
            try:
                run()
            except (Failed, event_files.Damaged) as error:
                report.expect(False, f"{what}: {error}")
    return report.finish(f"{len(RUNS)} layouts and a run that goes on")


if __name__ == "__main__":
    sys.exit(main())
