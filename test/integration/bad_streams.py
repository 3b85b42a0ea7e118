"""Standard streams that are closed, and evaluations, whose result goes to one."""

import fcntl
import json
import os
import signal
import struct

from bad_case import Case, Ended, wait_until

USAGE, REJECTD, INTERRUPTED, NOT_FINITE, NOT_WRITTEN = 2, 3, 11, 15, 18
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


def full(number):
    """Runs with this descriptor on a disk that is full."""
    def put():
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)
    return lambda place, command: place.run(command, put)


def unread_pipe():
    """Standard error becomes a pipe that is full."""
    reader, writer = os.pipe()
    os.dup2(reader, 0)  # open, and nobody reads
    os.set_blocking(writer, False)
    try:
        while os.write(writer, bytes(4096)):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)
    os.dup2(writer, 2)


def broken_pipe():
    reader, writer = os.pipe()
    os.dup2(writer, 2)
    os.close(reader)


def unsaid(act):
    """Nobody could read the one line that must be there."""
    return lambda place, command: Ended(act(place, command).code, "", "error: unread")


def stopped_once(ready, before):
    """A run that is asked to stop once `ready(place)`, and must need no second signal."""
    def act(place, command):
        process = place.start(command, before)
        wait_until(lambda: ready(place) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        return place.end(process)
    return act


def stopped(ready):
    """A run that is asked to stop once `ready(place)`, again if it was too early."""
    def act(place, command):
        process = place.start(command)
        wait_until(lambda: ready(place) or process.poll() is not None)
        while not wait_until(lambda: process.poll() is not None, 10):
            process.send_signal(signal.SIGINT)
        return place.end(process)
    return act


def fifo(reader):
    """A log that is a FIFO; with `reader` somebody opened it, and never reads."""
    def make(place):
        os.mkfifo(place.path("fifo"))
        if reader:
            place.reader = os.open(place.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
            fcntl.fcntl(place.reader, fcntl.F_SETPIPE_SZ, 4096)  # for one line
            place.cleanup.append(lambda: os.close(place.reader))
    return make


def logged(place):
    """A step; the header is there before."""
    return os.path.exists(place.path("log.jsonl")) and b'"step": ' in place.read("log.jsonl")


def locked(place):
    return os.path.exists(place.path("w.lock"))


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
    Case("full: standard output, of help", ["--help"], NOT_WRITTEN, ["standard output"],
         act=full(1)),
    Case("full: standard output, of the version", ["--version"], NOT_WRITTEN,
         ["standard output"], act=full(1)),
    Case("unread: standard error, of a run", TRAIN, 0, [], leaves=("log.jsonl", "w"),
         act=lambda place, command: place.run(command, unread_pipe)),
    Case("unread: standard error, of a run that is stopped",
         [*TRAIN[:-6], "--steps", 10 ** 7, *TRAIN[-4:]], INTERRUPTED, [],
         leaves=("log.jsonl", "w"), act=unsaid(stopped_once(logged, unread_pipe))),
    Case("unread: standard error, closed by who read it", [*TRAIN, "--lr", -1], USAGE, [],
         act=unsaid(lambda place, command: place.run(command, broken_pipe))),
    Case("unread: a log", [*RUN, "--steps", 50, "--log", "fifo", "--save", "w"],
         NOT_WRITTEN, ["'fifo': nobody takes its lines; 50 of 51 lines"], fifo(reader=True),
         ("w",)),
    Case("unread: a log, of threads", [*RUN, "--steps", 50, "--log", "fifo", "--save", "w",
                                       "--comm", "threads"], NOT_WRITTEN,
         ["'fifo': nobody takes its lines; 50 of 51 lines"], fifo(reader=True), ("w",)),
    Case("unread: a log that nobody opens", [*RUN, "--log", "fifo", "--save", "w"],
         INTERRUPTED, ["stopped by a signal before log 'fifo' was open"],
         fifo(reader=False), act=stopped(locked)),
    Case("progress where nobody watches", TRAIN, 0, ["step 1/2", "step 2/2"],
         leaves=("log.jsonl", "w")),
]

EVALUATIONS = [
    Case("evaluation: its samples are said", [*EVAL, "--eval-first", 8], 0, [],
         act=printed(batches=2, first_sample=8, eval_loss=...)),
    Case("evaluation: parameters and dumps are written",
         [*EVAL, "--save", "w", "--dump", "init", "d", "--dump", "params", "d"], 0, [],
         leaves=("w", "d/*"), act=printed(eval_loss=...)),
    Case("evaluation: stopped", [*EVAL[:-1], 100000, "--eval-data", "long.bin", "--save", "w"],
         INTERRUPTED, ["of 100000 of the evaluation; 'w' has the parameters that were "
                       "evaluated"], lambda place: place.write("long.bin", bytes(1 << 23)),
         ("w",), stopped(locked)),
    Case("evaluation: nothing is trained", [*EVAL, "--dump", "grads", "d"], USAGE,
         ["--dump grads@1", "an evaluation trains nothing"]),
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
