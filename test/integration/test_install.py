#!/usr/bin/env python3
"""`cmake --install` gives an mtc that needs neither sources nor build folder.

The README's tour runs from a fresh prefix, in a mount namespace that shows an empty folder
in place of the sources (where the system allows one). Manual pages and completions name
every option of the help, and a project of somebody else's uses the package.

usage: test_install.py BIN_DIR SOURCE_DIR
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

import tour
from run_layout import Report

SHARED = "share/mtc/specs/gpt2-nano.toml share/mtc/strategies/tp2-pp2-dp2.toml"
FILES = f"""bin/mtc bin/mtc-node bin/mtc-opt lib/mtc/link/executable.txt lib/mtc/libmtc_control.a {SHARED}
    share/doc/mtc/LICENSE share/doc/mtc/README.md share/doc/mtc/docs/contracts.md
    share/man/man1/mtc.1 share/man/man1/mtc-compile.1 share/zsh/site-functions/_mtc
    share/bash-completion/completions/mtc share/fish/vendor_completions.d/mtc.fish
    include/mtc/runtime/abi.h lib/cmake/mtc/mtcConfig.cmake""".split()
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(somebody LANGUAGES CXX)
find_package(mtc 0.1 REQUIRED)
add_library(own STATIC own.cpp)
add_executable(needs needs.cpp)
target_link_libraries(needs PRIVATE mtc::control own)
"""
# A project may have fmt in a library of its own: mtc's then gives way.
OWN = """#include <fmt/format-inl.h>
int own() { return 0; }
"""
PROGRAM = """int own();
int main(int argc, char **argv) {
  std::string text;
  auto status = mtc::runtime::inspectRequirements(argv[argc - 1], false, text);
  std::fputs(status.ok() ? text.c_str() : status.message().c_str(), stdout);
  return own() + static_cast<int>(status.code());
}
"""


class Installed:
    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.prefix = os.path.join(folder, "prefix")
        self.namespace = self.find_namespace()

    def find_namespace(self):
        """How a command gets a mount namespace of its own; none: it cannot."""
        for unshare in (["unshare", "-m"], ["unshare", "-rm"]):
            if subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", self.source],
                              capture_output=True).returncode == 0:
                return unshare
        return []

    def run(self, command):
        """A command of sh without the sources, with nothing of ours in the environment."""
        hide = f"mount -t tmpfs none {shlex.quote(self.source)} && " if self.namespace else ""
        return subprocess.run(
            [*self.namespace, "sh", "-c", f"{hide}cd {shlex.quote(self.folder)} && {command}"],
            text=True, capture_output=True, cwd="/",
            env={"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "LC_ALL": "C",
                 "TMPDIR": self.folder})

    def path(self, name):
        return os.path.join(self.prefix, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def ends_well(installed, what, command, *words):
    done = installed.run(command)
    if done.returncode != 0:
        yield f"{what}: ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return
    yield from (f"{what}: expected {word!r} in\n{done.stdout}" for word in words
                if word not in done.stdout)


def check_tour(installed):
    with open(os.path.join(installed.source, "README.md"), encoding="utf-8") as file:
        script = tour.script(file.read())
    if script.count("mtc compile") < 2 or "mtc run" not in script:
        yield f"expected the tour to compile and run, found\n{script}"
    installed.write("tour.sh", script)
    text = shlex.quote(installed.path("share/doc/mtc/LICENSE"))
    yield from ends_well(installed, "the tour", f"sh -e tour.sh {text}",
                         '"step": 3', "bundle         nano.mtc", "libdnnl.so.2")
    yield from ends_well(installed, "a strategy by name", "mtc compile gpt2-nano --strategy "
                         "tp2-pp2-dp2 --compile-to import -o s.mlir")
    yield from ends_well(installed, "mtc-opt", "mtc-opt --mtc-model s.mlir", "mtc.config")
    yield from ends_well(installed, "--version", "mtc --version", "MLIR", "oneDNN", "cuda:")


def flags_of(help_text):
    """Flags at the beginning of the help's lines."""
    heads = re.findall(r"^  (-[\w.-]+(?:,-[\w.-]+)*)", help_text, re.MULTILINE)
    return {flag for head in heads for flag in head.split(",")}


def check_pages(installed):
    for command in ("compile", "lint", "run", "inspect", "diff", "explain", "schedule",
                    "data tokenize", "data merge", "data dedup"):
        flags = flags_of(installed.run(f"mtc {command} --help").stdout)
        if len(flags) < 3:
            yield f"expected flags in the help of {command}, found {flags}"
        name = command.replace(" ", "-")
        page = installed.read(f"share/man/man1/mtc-{name}.1").replace("\\-", "-")
        for flag in sorted(flags):
            if f"\\fB{flag}\\fR" not in page:
                yield f"mtc-{name}.1: expected {flag}, found none"
        offered = completed(installed, *command.split(), "-")
        if offered != flags:
            yield f"completion of {command}: expected {flags}, found {offered}"
    if "gpt2-nano" not in completed(installed, "compile", "gpt2-na"):
        yield "expected names of specs as completion, found none"
    if completed(installed, "schedule", "sh") != {"show"}:
        yield "expected what schedule does as completion, found none"
    if completed(installed, "schedule", "show", "zb") != {"zb-h1"}:
        yield "expected names of schedules as completion, found none"
    if completed(installed, "data", "tok") != {"tokenize"}:
        yield "expected actions of data as completion, found none"
    if completed(installed, "in") != {"inspect"}:
        yield "expected commands as completion, found none"


def completed(installed, *words):
    """What bash offers for the last word."""
    line = " ".join(map(shlex.quote, ("mtc", *words)))
    script = (f". {shlex.quote(installed.path('share/bash-completion/completions/mtc'))}; "
              f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _mtc; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return set(installed.run(f"bash -c {shlex.quote(script)}").stdout.split())


def check_package(installed):
    headers = os.listdir(installed.path("include/mtc/runtime"))
    lines = [f"#include <mtc/runtime/{name}>\n" for name in sorted(headers)]
    installed.write("project/needs.cpp", "".join(lines) + "#include <cstdio>\n" + PROGRAM)
    installed.write("project/own.cpp", OWN)
    installed.write("project/CMakeLists.txt", PROJECT)
    yield from ends_well(
        installed, "a project with the package",
        f"cmake -G Ninja -S project -B there -DCMAKE_PREFIX_PATH={shlex.quote(installed.prefix)} && "
        "cmake --build there && there/needs nano.mtc", "libc.so.6", "GLIBC_2.", "processor")


def main():
    binaries, source = map(os.path.abspath, sys.argv[1:3])
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(source, folder)
        done = subprocess.run(["cmake", "--install", os.path.dirname(binaries), "--prefix",
                               installed.prefix], capture_output=True, text=True)
        report.expect(done.returncode == 0, done.stderr)
        report.expect_none(f"expected {name}, found none" for name in FILES
                           if not os.path.exists(installed.path(name)))
        if not installed.namespace:
            print("install: the sources stay visible: no mount namespace here")
        for check in (check_tour, check_pages, check_package):
            report.expect_none(check(installed))
    return report.finish("install")


if __name__ == "__main__":
    sys.exit(main())
