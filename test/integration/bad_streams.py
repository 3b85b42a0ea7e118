"""Standard streams that are closed, and evaluations, whose result goes to one."""

import json
import os
import struct

from bad_case import Case, Ended

USAGE, REJECTD, NOT_FINITE, NOT_WRITTEN = 2, 3, 15, 18
RUN = ["run", "two", "--data", "data.bin", "--data-type", "u8"]
TRAIN = [*RUN, "--steps", 2, "--log", "log.jsonl", "--save", "w"]
EVAL = [*RUN, "--quiet", "--eval", 2]


def closed(*numbers):
    """Runs with these descriptors closed, as a shell does with `2>&-`."""
    def close():
        for number in numbers:
            os.close(number)
    return lambda place, command: place.run(command, close)


def not_finite(place):
    """Weights of which none is a number."""
    content = place.read("weights.safetensors")
    (length,) = struct.unpack("<Q", content[:8])
    place.write("bad.safetensors", content[:8 + length]
                + b"\xff" * (len(content) - 8 - length))


def printed(**fields):
    """Runs; standard output must be one JSON object with these fields."""
    def act(place, command):
        ended = place.run(command)
        try:
            found = json.loads(ended.out)
            wrong = {key: found.get(key) for key, value in fields.items()
                     if key not in found or value is not Ellipsis and found[key] != value}
        except ValueError:
            wrong = "no JSON"
        return Ended(None, ended.out, f"{ended.err}\nexpected {fields}, found {wrong} in "
                     f"{ended.out!r}") if wrong else ended
    return act


CLOSED = [
    Case("closed: standard error, of a run", TRAIN, 0, [], leaves=("log.jsonl", "w"),
         act=closed(2)),
    Case("closed: all, of a run", TRAIN, 0, [], leaves=("log.jsonl", "w"),
         act=closed(0, 1, 2)),
    Case("closed: all, of a run of threads", [*TRAIN, "--comm", "threads"], 0, [],
         leaves=("log.jsonl", "w"), act=closed(0, 1, 2)),
    Case("closed: standard input and error, of a compilation",
         ["compile", "tiny.toml", "--gbs", 2, "-o", "out"], 0, [],
         leaves=("out/*",), act=closed(0, 2)),
    Case("closed: standard output, of what is printed", ["inspect", "one/programs/stage0"],
         NOT_WRITTEN, ["standard output"], act=closed(1)),
    Case("closed: standard output, of an evaluation", EVAL, NOT_WRITTEN,
         ["standard output"], act=closed(1)),
    Case("progress where nobody watches", TRAIN, 0, ["step 1/2", "step 2/2"],
         leaves=("log.jsonl", "w")),
]

EVALUATIONS = [
    Case("evaluation: its samples are said", [*EVAL, "--eval-first", 8], 0, [],
         act=printed(batches=2, first_sample=8, eval_loss=...)),
    Case("evaluation: parameters and dumps are written",
         [*EVAL, "--save", "w", "--dump", "init", "d", "--dump", "params", "d"], 0, [],
         leaves=("w", "d/*"), act=printed(eval_loss=...)),
    Case("evaluation: nothing is trained", [*EVAL, "--dump", "grads", "d"], USAGE,
         ["dump of grads", "0 steps"]),
    Case("evaluation: a loss that is not finite",
         ["run", "one", *EVAL[2:], "--init-from", "bad.safetensors", "--save", "w"],
         NOT_FINITE, ["evaluation loss is not finite", "'w' has the parameters"],
         not_finite, ("w",), printed(eval_loss=None, not_finite="loss")),
    Case("evaluation: more than the file has", [*EVAL, "--eval-data", "small.bin"], USAGE,
         ["--eval 2", "at most 1 batches of 4", "6 samples", "small.bin"],
         lambda place: place.write("small.bin", bytes(100))),
    Case("evaluation: tokens of its own that do not fit",
         [*EVAL, "--eval-data", "other.bin"], REJECTD, ["other.bin", "found 255"],
         lambda place: place.write("other.bin", b"\xff" * 200)),
    Case("evaluation: data for none", [*RUN, "--eval-data", "data.bin"], USAGE,
         ["--eval-data", "--eval BATCHES"]),
]

CASES = CLOSED + EVALUATIONS
