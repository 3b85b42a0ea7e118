"""One case of bad input: how it is made, how it must end, what it may leave.

Every case has a folder of its own, which is the working folder of its command. There
are links in it to two whole bundles (`one`: a rank; `two`: tp 2, pp 2), their spec
`tiny.toml` and tokens `data.bin`. What a case writes there before its command starts
must still be the same afterwards, and what is new must be named in `leaves`.
"""

import dataclasses
import fnmatch
import hashlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
import uuid

# The environment of all processes of one case has it; no other process does.
TOKEN = "MTC_TEST_CASE"
# A case takes tenths of a second; a loaded machine may take very much longer.
LIMIT = 60
# Words of a program that was not written for the person who reads them.
NOT_FOR_PEOPLE = ("terminate called", "Assertion", "Stack dump", "PLEASE submit",
                  "LLVM ERROR", "what():", "core dumped", "stack trace")
TEMPORARY = ("*.tmp*", PARTS := "*.parts-*")


class Broken(Exception):
    """A case could not be made; that says nothing about mtc."""


def nothing(_):
    """No preparation."""


@dataclasses.dataclass
class Ended:
    code: int
    out: str
    err: str


@dataclasses.dataclass
class Case:
    name: str
    command: list        # arguments of mtc
    code: int            # `mtc help exit-codes`
    says: list           # words of standard error; a tuple: one of them
    make: object = nothing   # prepares the folder: make(place)
    leaves: tuple = ()   # patterns of new files
    act: object = None   # runs it: act(place, command) -> Ended


def install(place, how):
    """From now on the case calls an mtc of its own, with an installation around it. What
    programs are linked with gets there by `how(name)(source, target)`; None: it does not."""
    build = os.path.dirname(os.path.dirname(place.program))
    names = os.listdir(os.path.join(build, "lib/mtc/link"))
    for name, way in [("bin/mtc", shutil.copy),
                      *((f"lib/mtc/link/{name}", how(name)) for name in sorted(names))]:
        os.makedirs(os.path.dirname(place.path("installed", name)), exist_ok=True)
        if way:
            way(os.path.join(build, name), place.path("installed", name))
    place.program = place.path("installed/bin/mtc")


class Place:
    """The folder of a case and how a command runs there."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.token = f"{TOKEN}={uuid.uuid4()}"
        self.cleanup = []
        self.before_exec = None  # done in every process of the case, before mtc

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def environment(self):
        name, value = self.token.split("=")
        scratch = self.path("scratch")
        os.makedirs(scratch, exist_ok=True)
        return {**os.environ, name: value, "TMPDIR": scratch, "LC_ALL": "C"}

    def start(self, command, before_exec=None, environment=None):
        """The command in a process group of its own, which signals can be sent to."""
        return subprocess.Popen(
            [self.program, *map(str, command)], cwd=self.folder, text=True,
            errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
            env={**self.environment(), **(environment or {})},
            preexec_fn=before_exec or self.before_exec)

    def end(self, process):
        """Waits; a process that hangs is killed and has code None."""
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            for pid in self.processes():
                os.kill(pid, signal.SIGKILL)
            out, err = process.communicate()
            return Ended(None, out, err + f"\n(killed after {LIMIT} s)")
        return Ended(process.returncode, out, err)

    def run(self, command, before_exec=None, environment=None):
        return self.end(self.start(command, before_exec, environment))

    def processes(self):
        """Ids of the living processes of this case. Zombies have no environment."""
        found, wanted = [], self.token.encode()
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found.append(int(name))
            except OSError:
                pass  # it ended, or belongs to somebody else
        return found

    def files(self):
        """Hash by relative name of every file; folders that are empty have None."""
        found = {}
        for folder, folders, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path) and os.path.isfile(path):
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.folder)] = \
                            hashlib.sha256(file.read()).hexdigest()
            if not folders and not names and folder != self.path("scratch"):
                found[os.path.relpath(folder, self.folder)] = None
        return found


def wait_until(holds, seconds=30):
    """Whether `holds()` comes true in time."""
    end = time.monotonic() + seconds
    while not (result := holds()) and time.monotonic() < end:
        time.sleep(0.01)
    return result


def pipe(place):
    os.mkfifo(place.path("pipe"))


def is_pipe(place):
    mode = os.lstat(place.path("pipe")).st_mode
    return None if stat.S_ISFIFO(mode) else f"expected the pipe to stay, found mode {mode:o}"


def silent(*words):
    """Runs; the message must have none of these."""
    def act(place, command):
        ended = place.run(command)
        found = [each for each in words if each in ended.err]
        return Ended(None, ended.out, f"{ended.err}\nexpected no {found}") if found else ended
    return act


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
    """Of steps, beside those that begin a run."""
    def check(place):
        found = [line for line in place.read(name).splitlines()
                 if "header" not in json.loads(line)]
        if len(found) != count:
            return f"{name}: expected {count} lines, found {found}"
    return check


def holds(name, content):
    return lambda place: None if place.read(name) == content else \
        f"{name}: expected {content}, found {place.read(name)}"


def there(name):
    return lambda place: None if os.path.exists(place.path(name)) else f"no {name}"


def check_message(case, ended):
    """What is wrong with exit code and message."""
    if ended.code != case.code:
        yield f"expected exit code {case.code}, found {ended.code}"
    for words in case.says:
        alternatives = words if isinstance(words, tuple) else (words,)
        if not any(word in ended.err for word in alternatives):
            yield f"expected a message with {' or '.join(map(repr, alternatives))}"
    yield from (f"expected no {word!r} in the message" for word in NOT_FOR_PEOPLE
                if word in ended.err)
    if re.search(r"\d{40}", ended.err):
        yield "expected no number of 40 digits in the message"
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    if case.code != 0 and case.code > 0 and len(errors) != 1:
        yield f"expected one line 'error: ...', found {len(errors)}"
    yield from (f"expected lower case and no full stop: {line}" for line in errors
                if line.endswith(".") and not line.endswith("..."))


def check_log(path, name):
    with open(path, "rb") as file:
        content = file.read()
    if content and not content.endswith(b"\n"):
        yield f"{name}: expected whole lines, found {content[-40:]!r} at its end"
    for line in content.splitlines():
        try:
            json.loads(line)
        except ValueError:
            yield f"{name}: expected JSON in every line, found {line!r}"


def check_left(case, place, before):
    """What is wrong with the files that are there now."""
    after = place.files()
    for name in sorted(before):
        if name not in after and before[name] is not None:
            yield f"{name} was removed"
        elif name in after and after[name] != before[name]:
            yield f"{name} was changed"
    for name in sorted(set(after) - set(before)):
        if any(fnmatch.fnmatch(os.path.basename(name), it) for it in TEMPORARY
               if not any(leaf.endswith(it) for leaf in case.leaves)):
            yield f"{name} was left behind"
        elif not any(fnmatch.fnmatch(name, it) for it in case.leaves):
            yield f"{name} is there; it looks whole"
        elif name.endswith(".jsonl"):
            yield from check_log(place.path(name), name)


def check_case(case, place):
    """Runs a case. Sentences of what is wrong, and how it ended."""
    try:
        case.make(place)
        before = place.files()
        ended = (case.act or Place.run)(place, case.command)
        wrong = list(check_message(case, ended))
        if not wait_until(lambda: not place.processes()):
            wrong.append(f"processes are left: {place.processes()}")
        wrong += check_left(case, place, before)
        return wrong, ended
    except Broken as problem:
        return [f"the case itself is broken: {problem}"], Ended(None, "", "")
    finally:
        for pid in place.processes():
            os.kill(pid, signal.SIGKILL)
        for step in reversed(place.cleanup):
            step()
