#!/usr/bin/env python3
"""Flips single bits of bundles: each must be found, or change nothing.

Usage: flips.py BIN [--flips N] [--seed S]

Every file of a bundle of four ranks gets its share of flips, at places by seed. A flip is
run with one of the two transports and inspected: it ends with exit code 3 and a message,
or it trains to the bytes of the bundle that is whole. Anything else is a defect, a signal
above all.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "integration"))
from tiny_model import SPEC, tokens

REJECTED = 3


class Flips:
    def __init__(self, program, folder):
        self.program, self.folder = os.path.join(program, "mtc"), folder
        self.write("tiny.toml", SPEC.encode())
        self.write("data", tokens(2000))
        self.call("compile", self.path("tiny.toml"), "--gbs", 4, "--tp", 2, "--pp", 2,
                  "-o", self.path("whole"))
        self.expected = {comm: self.train("whole", comm)[1] for comm in ("shm", "threads")}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def call(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], text=True,
                              capture_output=True, timeout=120, errors="replace")

    def train(self, bundle, comm):
        """How it ended, and the parameters it saved."""
        saved = self.path("saved")
        if os.path.exists(saved):
            os.remove(saved)
        ended = self.call("run", self.path(bundle), "--data", self.path("data"),
                          "--data-type", "u8", "--steps", 2, "--quiet", "--comm", comm,
                          "--save", saved)
        return ended, self.read("saved") if os.path.exists(saved) else None

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.path("whole"))
                      for folder, _, names in os.walk(self.path("whole"))
                      for name in names)

    def flip(self, name, bit, comm):
        """What is wrong with the flip, or "found" or "same"."""
        shutil.copytree(self.path("whole"), self.path("bad"))
        content = bytearray(self.read(f"whole/{name}"))
        content[bit // 8] ^= 1 << bit % 8
        self.write(f"bad/{name}", content)
        ended, saved = self.train("bad", comm)
        looked = self.call("inspect", self.path("bad"))
        shutil.rmtree(self.path("bad"))
        if ended.returncode == REJECTED and ended.stderr.startswith("error: "):
            return "found"
        if ended.returncode == 0 and saved == self.expected[comm] \
                and looked.returncode in (0, REJECTED):
            return "same"
        return f"exit codes {ended.returncode} and {looked.returncode}: {ended.stderr[:200]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    numbers, counts, defects = random.Random(options.seed), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        flips = Flips(options.bin, folder)
        files = flips.files()
        for number in range(options.flips):
            name = files[number % len(files)]
            bit = numbers.randrange(8 * os.path.getsize(flips.path("whole", name)))
            verdict = flips.flip(name, bit, ("shm", "threads")[numbers.randrange(2)])
            if verdict not in ("found", "same"):
                print(f"{name}, bit {bit}: {verdict}", flush=True)
                defects, verdict = defects + 1, "defects"
            of_file = counts.setdefault(name, {"found": 0, "same": 0, "defects": 0})
            of_file[verdict] += 1
    for name, count in sorted(counts.items()):
        print(f"{name:<24} " + "  ".join(f"{key} {value:4}" for key, value in count.items()))
    print(f"{options.flips} flips, {defects} defects")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
