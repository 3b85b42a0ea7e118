"""Schedules that are no schedules, and pictures that cannot be."""

import os

from bad_case import Case, is_pipe, pipe, then

USAGE, REJECTD, INFEASIBLE, UNWRITABLE = 2, 3, 4, 18
SHOW = ["schedule", "show"]


def file(name, text, says, code, *options):
    """A file of slots, shown."""
    return Case("schedule: " + name, [*SHOW, "mine.txt", *options], code, says,
                lambda place: place.write("mine.txt", text))


CASES = [
    Case("schedule: no action", ["schedule"], USAGE, ["action", "mtc schedule --help"]),
    Case("schedule: an action that is none", ["schedule", "draw", "1f1b"], USAGE,
         ["expected show or list", "'draw'"]),
    Case("schedule: none to show", SHOW, USAGE, ["mtc schedule list", "found none"]),
    Case("schedule: a list of one", ["schedule", "list", "1f1b"], USAGE,
         ["expected nothing else", "schedule"]),
    Case("schedule: a list with sizes", ["schedule", "list", "--pp", 2], USAGE, ["--pp"]),
    Case("schedule: a name that is none", [*SHOW, "1f1c"], REJECTD,
         ["1f1c", "expected a schedule file or one of gpipe", "did you mean '1f1b'?"]),
    Case("schedule: an absent file", [*SHOW, "absent.txt"], REJECTD,
         ["absent.txt: expected a schedule file or one of gpipe"]),
    Case("schedule: a folder", [*SHOW, "one"], REJECTD, ["one"]),
    Case("schedule: no stages", [*SHOW, "1f1b", "--pp", 0], USAGE, ["--pp", "from 1", "'0'"]),
    Case("schedule: sizes beyond all machines",
         [*SHOW, "1f1b", "--pp", 10 ** 7, "--microbatches", 10 ** 18, "--latency", 10 ** 12],
         USAGE, ["--pp: expected at most 1000000", "--microbatches: expected at most",
                 "--latency: expected at most 1000000000, found 1000000000000"]),
    Case("schedule: too many slots", [*SHOW, "1f1b", "--pp", 10 ** 6, "--microbatches", 10 ** 6],
         USAGE, ["at most 1000000 stages times microbatches", "1000000 x 1000000 x 1"]),
    Case("schedule: chunks of one that has none", [*SHOW, "1f1b", "--chunks", 2], INFEASIBLE,
         ["1f1b: v=2: this schedule has one chunk per stage"]),
    Case("schedule: fewer microbatches than stages",
         [*SHOW, "interleaved-1f1b", "--pp", 4, "--microbatches", 2], INFEASIBLE,
         ["interleaved-1f1b: G=4 > m=2"]),
    Case("schedule: a pipe is not read", [*SHOW, "./pipe"], REJECTD,
         ["pipe", "a pipe (FIFO)"], lambda place: os.mkfifo(place.path("pipe"))),
    Case("schedule: costs that are none",
         [*SHOW, "1f1b", "--costs", "F=0,B=2,X=1,B=3,W,I=9999999999"], USAGE,
         ["--costs: expected PHASE=TIME", "'F=0', 'X=1', 'B=3', 'W', 'I=9999999999'"]),
    file("words that are no slots", "# two lines\nF0 B0\n\nF0 X1 B\n",
         ["mine.txt: line 4: stage 1 slot 1: found 'X1', expected a phase",
          "mine.txt: line 4: stage 1 slot 1: found 'B'"], USAGE),
    file("a file of nothing", "# later\n", ["mine.txt: line 1: expected one line of slots"],
         USAGE),
    file("a file of noise", bytes(range(256)) * 64, ["mine.txt: line 1", "\\x01"], USAGE),
    file("numbers that no line has room for", "F0 F2147483647 B0\n",
         ["line 1: stage 0 slot 1: F2147483647: expected a microbatch of 0 to 2"], USAGE),
    file("lines of other stages", "F0 B0\nF0 B0\n",
         ["line 2: expected 3 lines of slots, one per stage, found 2"], USAGE, "--pp", 3),
    file("a group of a file", "F0 B0\n", ["--group", "mine.txt", "leave it out"], USAGE,
         "--group", 2),
    file("slots that are not there, and twice", "F0 B0 F1 B1\nF0 B0 B0 F1\n",
         ["mine.txt: stage 1: B0.0 at slots 1 and 2: expected once",
          "mine.txt: stage 1: no backward for mb 1 chunk 0"], INFEASIBLE),
    file("a deadlock", "F0 B0 F1 B1\nF0 F1 B0 B1\n",
         ["mine.txt: stages wait for each other", "  stage 0: B0 waits for B0 of stage 1",
          "  stage 1: F1 waits for F1 of stage 0", "stage  1 | .  F0 !F1"], INFEASIBLE),
    file("a picture of a deadlock", "B0 F0\n", ["stage 0: F0.0 after B0.0"], INFEASIBLE,
         "--svg", "s.svg"),
    file("a picture over the schedule", "F0 B0\n", ["--svg", "the schedule"], USAGE,
         "--svg", "mine.txt"),
    Case("schedule: a picture into a pipe", [*SHOW, "1f1b", "--svg", "pipe"], UNWRITABLE,
         ["'pipe'", "expected a new name or a regular file, found a pipe (FIFO)"], pipe,
         act=then(is_pipe)),
    Case("schedule: a picture to standard output", [*SHOW, "1f1b", "--svg", "-"], USAGE,
         ["--svg: expected a file, found '-'"]),
    Case("schedule: a picture in a bundle", [*SHOW, "1f1b", "--svg", "one/s.svg"], USAGE,
         ["--svg", "bundle"]),
    Case("schedule: a picture in a folder that is not there",
         [*SHOW, "1f1b", "--svg", "no/s.svg"], UNWRITABLE, ["no/s.svg"]),
]
