"""Logs that are there already, and files that two runs want."""

import os
import signal

from bad_case import Broken, Case, Ended, holds, lines, then, there, wait_until
from bad_files import INTERRUPTED, REJECTD, RUN, USAGE, tokens

LINE = b'{"step": 1}\n'


def with_log(content):
    def make(place):
        tokens(place)
        place.write("log.jsonl", content)
    return make


def continued(content):
    """The log is there already, so it changes: not what cases may do otherwise."""
    def act(place, command):
        place.write("log.jsonl", content)
        return then(lines("log.jsonl", 3))(place, command)
    return act


def kept(place, command):
    place.write("log.jsonl", LINE)
    return then(lines("log.jsonl", 2), holds("log.jsonl.1", b"other\n"),
                holds("log.jsonl.2", LINE))(place, command)


def kept_beside(place, command):
    place.write("log.jsonl", LINE)
    return then(lines("log.jsonl", 2), holds("log.jsonl.2", LINE),
                there("log.jsonl.1"))(place, command)


def kept_behind(place, command):
    place.write("disk/log.jsonl", LINE)
    os.symlink("disk/log.jsonl", place.path("link"))
    ended = then(lines("disk/log.jsonl", 2), holds("disk/log.jsonl.1", LINE))(place, command)
    return ended if os.path.islink(place.path("link")) else Ended(None, ended.out, ended.err)


def over_log(name):
    def act(place, command):
        place.write(name, LINE)
        return place.run(command)
    return act


LOGGED = [*RUN, "--log", "log.jsonl"]
LOGS = [
    Case("log: an earlier one is kept", LOGGED, 0, ["kept as 'log.jsonl.2'"],
         lambda place: (tokens(place), place.write("log.jsonl.1", "other\n")),
         ("log.jsonl", "log.jsonl.2"), kept),
    Case("log: an earlier one behind a link is kept beside it", [*RUN, "--log", "link"], 0,
         ["kept as 'disk/log.jsonl.1'"], tokens, ("link", "disk/*"), kept_behind),
    Case("log: an earlier one is kept beside what is saved",
         [*LOGGED, "--save", "log.jsonl.1"], 0, ["kept as 'log.jsonl.2'"], tokens,
         ("log.jsonl", "log.jsonl.1", "log.jsonl.2"), kept_beside),
    Case("files: a name that is not UTF-8", [*RUN, "--save", "w\udcff"], 0, [], tokens,
         ("w\udcff",), then(there("w\udcff"))),
    Case("log: an earlier one is continued", [*LOGGED, "--append"], 0, [],
         tokens, ("log.jsonl",), continued(LINE)),
    Case("log: half a line of a run that was killed", [*LOGGED, "--append"], 0,
         ["half a line at its end was removed"], tokens, ("log.jsonl",),
         continued(LINE + b'{"st')),
    Case("log: a last line that only lacks its end", [*LOGGED, "--append"], 0, [],
         tokens, ("log.jsonl",), continued(LINE[:-1])),
    Case("log: what is none is not continued", [*LOGGED, "--append"], USAGE,
         ["log.jsonl", "expected lines of a log", "another name"], with_log(b"my notes")),
    Case("log: a program is not continued", [*LOGGED, "--append"], USAGE,
         ["expected lines of a log"], with_log(b"{'lr': 1}")),
    Case("log: whole lines of something else are not continued", [*LOGGED, "--append"],
         USAGE, ["expected lines of a log"], with_log(b"hello\n")),
    Case("log: control characters of its name", [*RUN, "--log", "a\x1b[31mb"], 0,
         ["log 'a\\x1b[31mb' is there already"],
         lambda place: (tokens(place), place.write("a\x1b[31mb.1", "")),
         ("a*",), over_log("a\x1b[31mb")),
    Case("files: a lock that is none", [*RUN, "--save", "w"], USAGE,
         ["w.lock", "something in it"],
         lambda place: (tokens(place), place.write("w.lock", "mine"))),
    Case("log: to be continued, and none", [*RUN, "--append"], USAGE,
         ["--append", "--log"], tokens),
    Case("log: a run that does not start leaves the earlier one",
         ["run", "one", "--data", "tokens.bin", "--data-type", "u16", "--log", "log.jsonl"],
         REJECTD, ["vocabulary"], with_log(LINE)),
]


def beside_another(place, command, other=None):
    """While another run writes the same files, which then is stopped."""
    long = [*(other or command)]
    long[long.index("--steps") + 1] = 10 ** 7
    first = place.start(long)
    name = place.path("first.jsonl" if "first.jsonl" in long else "log.jsonl")
    if not wait_until(lambda: os.path.exists(name) and os.path.getsize(name) > 0
                      or first.poll() is not None):
        raise Broken("no first step")
    second = [*command]
    if "first.jsonl" in second:
        second[second.index("first.jsonl")] = "second.jsonl"
    ended = place.run(second)
    first.send_signal(signal.SIGTERM)
    other = place.end(first)
    if other.code != INTERRUPTED or f"process {first.pid}" not in ended.err:
        return Ended(None, ended.out, f"{ended.err}\nprocess {first.pid}: {other}")
    return ended


TWO = [
    Case("two runs: one log", LOGGED, USAGE, ["log.jsonl", "is being written by process"],
         tokens, ("log.jsonl",), beside_another),
    Case("two runs: one file of parameters",
         [*RUN, "--log", "first.jsonl", "--save", "w"], USAGE,
         ["'w' is being written by process"], tokens, ("first.jsonl", "w"),
         beside_another),
    Case("two runs: parameters onto a log", [*RUN, "--save", "log.jsonl"], USAGE,
         ["'log.jsonl' is being written by process"], tokens, ("log.jsonl",),
         lambda place, command: beside_another(place, command, LOGGED)),
    Case("two runs: a log onto parameters, by a link", [*RUN, "--log", "link"], USAGE,
         ["'link' is being written by process"],
         lambda place: (tokens(place), os.symlink("w", place.path("link"))),
         ("first.jsonl", "w"), lambda place, command: beside_another(
             place, command, [*RUN, "--log", "first.jsonl", "--save", "w"])),
    Case("two runs: a log onto parameters", [*RUN, "--log", "w"], USAGE,
         ["'w' is being written by process"], tokens, ("first.jsonl", "w"),
         lambda place, command: beside_another(
             place, command, [*RUN, "--log", "first.jsonl", "--save", "w"])),
]

CASES = LOGS + TWO
