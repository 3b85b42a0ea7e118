"""Outputs that are inputs, files that two runs want, logs that are there already."""

import json
import os
import shutil
import signal

from bad_case import Broken, Case, Ended, wait_until

USAGE, REJECTD, INTERRUPTED = 2, 3, 11
RUN = ["run", "one", "--data", "tokens.bin", "--data-type", "u8", "--steps", 2, "--quiet"]
TOKENS = bytes((7 * i + i // 5) % 64 for i in range(4000))
LINE = b'{"step": 1}\n'


def tokens(place):
    place.write("tokens.bin", TOKENS)


def other_names(place):
    """The same file by a hard and a symbolic link, and a folder by another name."""
    tokens(place)
    os.link(place.path("tokens.bin"), place.path("hard"))
    os.symlink("tokens.bin", place.path("soft"))
    os.makedirs(place.path("folder"))
    os.symlink("folder", place.path("door"))


def own_bundle(place):
    """A copy of the bundle, and a hard link to its program."""
    tokens(place)
    for folder, _, names in os.walk(place.path("one"), followlinks=True):
        for name in names:
            source = os.path.join(folder, name)
            target = place.path("mine", os.path.relpath(source, place.path("one")))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    os.link(place.path("mine/programs/stage0"), place.path("hard"))


def clash(name, option, file, says, make=other_names, before=RUN):
    return Case(f"files: {name}", [*before, *option, file], USAGE,
                ["outputs of a run", file, *says], make)


MINE = ["run", "mine", *RUN[2:]]
CLASHES = [
    clash("a log onto the data", ["--log"], "tokens.bin", ["the file of --data"]),
    clash("a log onto the data by another name", ["--log"], "./folder/../tokens.bin",
          ["the file of --data"]),
    clash("a log onto a hard link to the data", ["--log"], "hard", ["the file of --data"]),
    clash("a log onto a symbolic link to the data", ["--log"], "soft",
          ["the file of --data"]),
    clash("parameters onto the data", ["--save"], "hard", ["the file of --data"]),
    clash("parameters onto the recipe", ["--recipe", "r.toml", "--save"], "r.toml",
          ["the file of --recipe"], lambda place: (tokens(place),
                                                   place.write("r.toml", "lr = 1e-3\n"))),
    clash("parameters onto the initial ones",
          ["--init-from", "weights.safetensors", "--save"], "weights.safetensors",
          ["the file of --init-from"]),
    clash("parameters and a log", ["--save", "door/x", "--log"], "folder/x",
          ["the file of --save"]),
    clash("a log and what a link will be", ["--save", "link", "--log"], "target",
          ["the file of --save"], lambda place: (tokens(place),
                                                os.symlink("target", place.path("link")))),
    clash("a log through a link into the bundle", ["--log"], "link", ["inside the bundle"],
          lambda place: (own_bundle(place),
                         os.symlink("mine/log.jsonl", place.path("link"))), MINE),
    clash("a log onto a part of parameters", ["--save", "w", "--log"], "w.part0",
          ["a part of --save"]),
    clash("parameters onto the dump", ["--dump", "init", "folder", "--save"],
          "folder/init.safetensors", ["--dump init", "the file of --save"]),
    clash("parameters onto a program of the bundle", ["--save"], "mine/programs/stage0",
          ["a file of the bundle"], own_bundle, MINE),
    clash("a log onto a hard link to a program", ["--log"], "hard",
          ["a file of the bundle"], own_bundle, MINE),
    clash("a log inside of the bundle", ["--log"], "mine/programs/log.jsonl",
          ["inside the bundle 'mine'"], own_bundle, MINE),
    Case("files: a dump inside of the bundle", [*MINE, "--dump", "init", "mine/d"], USAGE,
         ["mine/d/init.safetensors", "inside the bundle"], own_bundle),
]


def with_log(content):
    def make(place):
        tokens(place)
        place.write("log.jsonl", content)
    return make


def then(*checks):
    """Runs, then each check(place) says what is wrong or nothing."""
    def act(place, command):
        ended = place.run(command)
        for check in checks:
            if wrong := check(place):
                return Ended(None, ended.out, f"{ended.err}\n{wrong}")
        return ended
    return act


def lines(name, count):
    def check(place):
        found = place.read(name).splitlines()
        if len(found) != count or not all(map(json.loads, found)):
            return f"{name}: expected {count} lines, found {found}"
    return check


def holds(name, content):
    return lambda place: None if place.read(name) == content else \
        f"{name}: expected {content}, found {place.read(name)}"


def there(name):
    return lambda place: None if os.path.exists(place.path(name)) else f"no {name}"


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


LOGGED = [*RUN, "--log", "log.jsonl"]
LOGS = [
    Case("log: an earlier one is kept", LOGGED, 0, ["kept as 'log.jsonl.2'"],
         lambda place: (tokens(place), place.write("log.jsonl.1", "other\n")),
         ("log.jsonl", "log.jsonl.2"), kept),
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
         ["log.jsonl", "expected lines of JSON", "another name"], with_log(b"my notes")),
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
    Case("two runs: a log onto parameters", [*RUN, "--log", "w"], USAGE,
         ["'w' is being written by process"], tokens, ("first.jsonl", "w"),
         lambda place, command: beside_another(
             place, command, [*RUN, "--log", "first.jsonl", "--save", "w"])),
]

CASES = CLASHES + LOGS + TWO
