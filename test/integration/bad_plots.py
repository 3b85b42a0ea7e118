"""Logs that are none, pictures that cannot be, and what a run cannot show."""

import os
import struct

from bad_case import Case, there, then
from bad_files import RUN, tokens
from event_files import record

USAGE, REJECTD = 2, 3
STEP = '{"step": 1, "loss": 5.5}\n'


SCALAR = record(b"\x10\x01\x2a\x0d\x0a\x0b\x0a\x04loss\x15" + struct.pack("<f", 2))


def plot(name, text, code, says, *options):
    """A plot of a file."""
    return Case("plot: " + name, ["plot", "log.jsonl", *options], code, says,
                lambda place: place.write("log.jsonl", text))


CASES = [
    plot("no picture", STEP, USAGE, ["--svg FILE or --png FILE", "neither"]),
    plot("a key that no line has", STEP, USAGE,
         ["found no 'wd', 'when'", "there are: loss, step"], "--y", "loss,wd", "--x", "when",
         "--svg", "p.svg"),
    plot("no log", "my notes\n", REJECTD, ["log.jsonl', line 1", "expected a JSON object"],
         "--svg", "p.svg"),
    plot("noise", bytes(range(256)) * 16, REJECTD, ["log.jsonl', line 1"], "--png", "p.png"),
    plot("no step", '{"header": 1}\n', REJECTD, ["no line with 'step'"], "--svg", "p.svg"),
    plot("over its log", STEP, USAGE, ["log.jsonl", "a log"], "--y", "loss", "--png",
         "log.jsonl"),
    plot("two pictures of one name", STEP, USAGE, ["p.svg"], "--y", "loss", "--svg", "p.svg",
         "--png", "p.svg"),
    plot("onto standard output", STEP, USAGE, ["--png: expected a file", "'-'"], "--png", "-"),
    Case("plot: from 1 to nearly the largest double",
         ["plot", "log.jsonl", "--y", "loss", "--log-y", "--svg", "p.svg"], 0, [],
         lambda place: place.write("log.jsonl", STEP + '{"step": 2, "loss": 1e307}\n'),
         ("p.svg",), then(there("p.svg"))),
    Case("plot: a log that is not there", ["plot", "absent.jsonl", "--svg", "p.svg"], REJECTD,
         ["absent.jsonl"]),
    Case("plot: half a line at its end", ["plot", "log.jsonl", "--y", "loss", "--svg", "p.svg"], 0,
         [], lambda place: place.write("log.jsonl", STEP + '{"st'), ("p.svg",),
         then(there("p.svg"))),
    Case("plot: a folder without events", ["plot", "empty", "--svg", "p.svg"], REJECTD,
         ["empty'", "event files of TensorBoard", "a folder without one"],
         lambda place: os.mkdir(place.path("empty"))),
    plot("events without scalars", record(b"\x10\x01"), REJECTD, ["with scalars", "found none"],
         "--svg", "p.svg"),
    plot("events that are damaged", record(b"\x10\x01") + record(b"\x10\x02")[:-1] + b"?",
         REJECTD, ["log.jsonl', the record at byte 18", "checksum of its bytes"], "--svg", "p.svg"),
    Case("plot: half a record at its end", ["plot", "events", "--y", "loss", "--svg", "p.svg"], 0,
         [], lambda place: place.write("events", SCALAR + record(b"\x10\x02")[:-1]), ("p.svg",),
         then(there("p.svg"))),
    Case("times of a level that is none", [*RUN, "--timing-log-level", 3], USAGE,
         ["--timing-log-level", "from 0 to 2", "3"], tokens),
    Case("steps of a profile, and none", [*RUN, "--profile-step-end", 2], USAGE,
         ["--profile FILE"], tokens),
    Case("a profile behind the end",
         [*RUN, "--profile", "t.json", "--profile-step-start", 2, "--profile-step-end", 9], USAGE,
         ["--profile-step-end", "found 2 to 9"], tokens),
    Case("no folder for events", [*RUN, "--tensorboard-dir", "tokens.bin"], USAGE,
         ["tokens.bin"], tokens),
]
