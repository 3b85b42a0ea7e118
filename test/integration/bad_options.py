"""Options that change nothing, that took another one for their value, or that are Megatron-LM's."""

import json
import os

from bad_case import Broken, Case, Ended, silent, then, there
from indexed import write_corpus

DONE, USAGE, STOPPED = 0, 2, 9
RUN = ["run", "one", "--data", "data.bin", "--data-type", "u8", "--quiet", "--steps", 1]
SAVED = ("c/*", "c.lock")
OF_CORPORA = ("cache/*",)


def recipe(text):
    return lambda place: place.write("r.toml", text)


def before(*command):
    """Another run before that of the case."""
    def make(place):
        ended = place.run(command)
        if ended.code != DONE:
            raise Broken(ended.err)
    return make


def corpora(place):
    for name in "ab":
        write_corpus(place.path(name), [[i] * 20 for i in range(30)])


def steps_of(name, *steps):
    """A trace has these steps, and no other."""
    def check(place):
        events = json.loads(place.read(name))["traceEvents"]
        found = {event["args"]["step"] for event in events if event["ph"] == "X"}
        return None if found == set(steps) else f"{name}: expected steps {steps}, found {found}"
    return check


def once(words):
    """Runs; the message must have these words once."""
    def act(place, command):
        ended = place.run(command)
        count = ended.err.count(words)
        return ended if count == 1 else Ended(
            None, ended.out, f"{ended.err}\nexpected {words!r} once, found it {count} times")
    return act


IDLE = [
    ("--mpi", "mpich"), ("--mpi-inside-hosts",), ("--master", "node1:4000"),
    ("--rdzv-timeout", 5), ("--heartbeat-timeout", 5), ("--initial-loss-scale", 64),
    ("--min-loss-scale", 2), ("--loss-scale-window", 9), ("--hysteresis", 3),
    ("--momentum", 0.5), ("--data-samples", 900), ("--data-cache-path", "cache"),
    ("--eval-steps", 3), ("--timing-log-level", 1), ("--log-interval", 2), ("--peak-tflops", 2),
    ("--eod", 3)]

CORES = len(os.sched_getaffinity(0))
# A rank with one more thread than there are cores.
WIDE = before("compile", "tiny.toml", "--gbs", 2, "--threads", CORES + 1, "-o", "wide")
WIDE_RUN = ["run", "wide", *RUN[2:]]

CASES = [
    Case("threads: more than cores", [word for word in WIDE_RUN if word != "--quiet"], DONE,
         [f"note: 1 rank of {CORES + 1} threads runs on {CORES} core", f"compile with --threads-per-rank {CORES}\n"], WIDE),
    Case("threads: more than cores, said to nobody", WIDE_RUN, DONE, [], WIDE, act=silent("note:")),
    Case("idle: all at once", [*RUN, *(word for option in IDLE for word in option)], DONE,
         [f"{' '.join(map(str, option))} has no effect: " for option in IDLE]),
    Case("idle: by Megatron-LM's name", [*RUN, "--sgd-momentum", 0.5], DONE,
         ["--momentum 0.5 has no effect: the optimizer that the bundle was compiled with"]),
    Case("idle: what acts is not named",
         [*RUN, "--log", "log.jsonl", "--timing-log-level", 1, "--log-interval", 1, "--eval-steps",
          1, "--eval-interval", 1, "--eval-data", "data.bin", "--beta1", 0.8, "--eps", 1e-7], DONE,
         [], leaves=("log.jsonl",), act=silent("has no effect")),
    Case("idle: a type of what says its own",
         ["run", "one", "--data", "a", "--data-type", "u8", "--data-cache-path", "cache",
          "--steps", 1, "--quiet"], DONE,
         ["--data-type u8 has no effect: the data say"], corpora, OF_CORPORA,
         once("has no effect")),
    Case("idle: keys of a recipe, which is for many bundles",
         [*RUN, "--recipe", "r.toml"], DONE, ["--eod 3 has no effect"],
         recipe("eod = 3\nhysteresis = 3\nmomentum = 0.5\n"), act=once("has no effect")),
    Case("idle: not beside an error", [*RUN, "--eod", 50000], USAGE,
         ["--eod 50000: expected a token"], act=silent("has no effect")),
    Case("swallowed: an option that stands behind", [*RUN, "--log", "--append"], USAGE,
         ["--log: expected its value, found the option '--append'", "mtc run --help"]),
    Case("swallowed: by Megatron-LM's flag", [*RUN, "--profile", "--profile-step-start", 1],
         USAGE, ["--profile: expected its value, found the option '--profile-step-start'"]),
    Case("a profile named as a number", [*RUN, "--profile", 10], USAGE,
         ["--profile: expected the name of a file, found the number 10"]),
    Case("a profile of the whole run", [*RUN[:-1], 2, "--profile", "t.json"], DONE, [],
         leaves=("t.json",), act=then(steps_of("t.json", 1, 2))),
    Case("a profile of the rest of a run",
         [*RUN[:-1], 3, "--checkpoints", "c", "--resume", "--profile", "t.json"], DONE, [],
         before(*RUN, "--checkpoints", "c"), ("t.json", *SAVED),
         then(steps_of("t.json", 2, 3))),
    Case("Megatron-LM: corpora with weights",
         ["run", "--data-path", 0.7, "a", 0.3, "b", "one", "--data-cache-path", "cache",
          "--steps", 1, "--quiet"], DONE, [], corpora, OF_CORPORA, then(there("cache"))),
    Case("Megatron-LM: corpora without weights",
         ["run", "one", "--data-path", "a", "b", "--data-cache-path", "cache", "--steps", 1,
          "--quiet"], DONE, [], corpora, OF_CORPORA, then(there("cache"))),
    Case("Megatron-LM: a file, and the bundle behind it",
         ["run", "--data-path", "data.bin", "one", *RUN[4:]], DONE, []),
    Case("Megatron-LM: corpora that are not there",
         ["run", "one", "--data-path", "x", "y", "--steps", 1], USAGE,
         ["found 'y'", 'several corpora are one argument: --data "BOOKS CODE"']),
    Case("Megatron-LM: options that are something else here",
         ["run", "--valid-data-path", 0.7, "a", 0.3, "b", "one", *RUN[2:], "--train-data-path", "a",
          "--test-data-path", 1, "a", "--skip-train", "--ckpt-step", 7, "--exit-signal-handler",
          "--check-for-nan-in-loss-and-grad", "--no-check-for-nan-in-loss-and-grad",
          "--distributed-timeout-minutes", 10, "--exit-on-missing-checkpoint", "--profile-ranks", 0,
          1], USAGE,
         ["--valid-data-path: no option of mtc run", "--eval-data DATA", "--train-data-path: no",
          "--test-data-path: no", "--skip-train: no", "--eval BATCHES", "--ckpt-step: no",
          "--load DIR/step-", "--exit-signal-handler: no", "SIGTERM",
          "--check-for-nan-in-loss-and-grad: no", "--no-check-for-nan-in-loss-and-grad: no",
          "--distributed-timeout-minutes: no", "--timeout SECONDS",
          "--exit-on-missing-checkpoint: no", "--profile-ranks: no"]),
    Case("a log named as standard output", [*RUN, "--log", "-"], USAGE,
         ["--log: expected a name, found '-'", "/dev/stdout"]),
    Case("stopped as asked", ["run", "two", *RUN[2:-1], 2, "--checkpoints", "c",
                              "--exit-interval", 1], STOPPED,
         ["error: ended after step 1"], leaves=SAVED, act=once("error: ")),
    Case("nothing left to train", [*RUN, "--checkpoints", "c", "--resume"], DONE,
         ["nothing is left to train: 'c/step-00000001' is of step 1, the last one"],
         before(*RUN, "--checkpoints", "c"), leaves=SAVED, act=silent("has no effect")),
]
