"""Tests of the actions of mtc data: files by name, reports, and how they end badly."""

import json
import os
import sys
import tempfile

from run_layout import Mtc, Report

USAGE, REJECTED, UNWRITTEN = 2, 3, 18


class Tools:
    """The actions of one folder, whose files are called by name."""

    def __init__(self, mtc, golden, folder):
        self.mtc, self.golden_folder, self.folder = mtc, golden, folder
        vocabulary = [os.path.join(golden, name) for name in ("vocab.json", "merges.txt")]
        self.gpt2 = ("--vocab-file", vocabulary[0], "--merge-file", vocabulary[1])
        with open(os.path.join(golden, "golden.jsonl"), encoding="utf-8") as file:
            self.golden = [json.loads(line) for line in file]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def write_lines(self, name, records):
        return self.write(name, "".join(json.dumps(r) + "\n" for r in records))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def call(self, action, *arguments, check=True):
        return self.mtc.call("data", action, *arguments, check=check)

    def report(self, action, *arguments):
        return json.loads(self.call(action, *arguments, "--json").stdout)

    def ends(self, what, code, words, action, *arguments):
        """What is wrong with how an action ends; it must leave no new file."""
        before = sorted(os.listdir(self.folder))
        ended = self.call(action, *arguments, check=False)
        if ended.returncode != code:
            yield f"{what}: expected code {code}, found {ended.returncode}: {ended.stderr}"
        yield from (f"{what}: expected {word!r} in {ended.stderr!r}" for word in words
                    if word not in ended.stderr)
        if sorted(os.listdir(self.folder)) != before:
            yield f"{what}: left {sorted(set(os.listdir(self.folder)) - set(before))}"


def run_checks(what, checks):
    """Each on a folder of its own; test programs are called with BIN_DIR GOLDEN_DIR."""
    report = Report()
    mtc, golden = Mtc(), sys.argv[2]
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            report.expect_none(check(Tools(mtc, golden, folder)))
    sys.exit(report.finish(what))
