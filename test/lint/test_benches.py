#!/usr/bin/env python3
"""Benches are built by hand, so nothing else says that they still compile: each source of
test/bench, by the command that the build has for it, up to its types, or unoptimized, where ccache
knows it from the last time."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCES, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
LAUNCHER = sys.argv[3:]  # of the compiler: ccache, if there is one
# Of libraries that a machine may lack: without them there is no command.
OPTIONAL = {"comm/bench_mpi.cpp"}


def compiled(entry):
    """The sources that a command compiles: its file, or what that includes, if it is a unit
    of several."""
    file = pathlib.Path(entry["directory"], entry["file"])
    if file.parent.name != "Unity":
        return {file.resolve()}
    return {pathlib.Path(name).resolve()
            for name in re.findall(r'#include "(.*)"', file.read_text())}


def commands():
    """Of each unit with a bench in it its command, and the benches that no unit has."""
    benches = set((SOURCES / "test" / "bench").rglob("*.cpp"))
    found, missing = [], set(benches)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if here := compiled(entry) & missing:
            found.append(entry)
            missing -= here
    return found, missing - {SOURCES / "test" / "bench" / name for name in OPTIONAL}


def check(entry):
    """What the compiler says of a unit that does not compile."""
    words = shlex.split(entry["command"])
    words[words.index("-o"):words.index("-o") + 2] = []
    with tempfile.TemporaryDirectory() as folder:
        # ccache keeps objects only, by the text of a unit and of all that it includes.
        what = ["-O0", "-o", os.path.join(folder, "unit.o")] if LAUNCHER else ["-fsyntax-only"]
        done = subprocess.run([*LAUNCHER, *words, *what, "-w"], cwd=entry["directory"], text=True,
                              capture_output=True)
    return done.stderr if done.returncode else ""


def main():
    found, missing = commands()
    said = [f"{path}: expected a target that compiles it, found none" for path in sorted(missing)]
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        said += filter(None, pool.map(check, found))
    print("\n".join(said) or f"{len(found)} units of benches compile")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
