"""Digests of what training computes: to show that a change of mtc changes no bit.

    digests.py BIN_DIR record FILE     runs everything, writes the digests
    digests.py BIN_DIR compare FILE    runs everything again and names what differs

Everything is the demo, and all layouts of the matrix in f32 (both models) and bf16:
losses, gradient norms, the gradients of step 1 and the final parameters. Bits depend on
the processor and on oneDNN: a file is for the machine that wrote it, and is not kept.
--part TEXT runs only what has TEXT in its name. About four minutes on two cores; not a
test.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import corpus
import precision
from layouts import SINGLE, matrix
from run_layout import Mtc, read_log
from test_matrix import BOUNDS, Result

# What tools/demo trains, for as long as it compares one process with eight.
DEMO_STEPS = 350
DEMO = {"demo-8": ["--tp", "2", "--pp", "2", "--dp", "2", "--zero", "1"], "demo-1": []}
DEMO_RECIPE = ["--lr", "3e-3", "--decay", "constant", "--warmup", "50"]


def book(path):
    """The text of tools/demo, without the numbers of its verses."""
    text = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True,
                          capture_output=True).stdout
    with open(path, "wb") as file:
        file.write(re.sub(rb"^\w+:\d+ ", b"", text, flags=re.MULTILINE))


def jobs(mtc):
    """Name, spec, options of compilation, recipe, data: of each run."""
    for dtype, bounds in BOUNDS.items():
        recipe = ["--data-type", "u8", "--steps", bounds.steps, "--warmup", 5]
        for spec in bounds.specs:
            for layout in [SINGLE, *matrix(mtc.schedules())]:
                yield (f"{dtype} {spec} {layout.name}", spec,
                       layout.options() + precision.options(dtype), recipe, "corpus")
    for name, layout in DEMO.items():
        yield (name, "gpt2-tiny", [*layout, "--gbs", "32", "--mbs", "4"],
               ["--data-type", "u8", *DEMO_RECIPE, "--steps", DEMO_STEPS], "book")


class Runner:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder
        self.data = {"corpus": self.path("corpus.bin"), "book": self.path("book.bin")}
        corpus.write(self.data["corpus"])
        book(self.data["book"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def digest(self, spec, options, recipe, data):
        """The bits of one run, each kind as a hash."""
        bundle, out = self.path("bundle"), self.path("run")
        self.mtc.call("compile", spec, *options, "-o", bundle)
        os.makedirs(out)
        log = os.path.join(out, "log.jsonl")
        dumps = [word for what in ("init", "grads", "params")
                 for word in ("--dump", what, out)]
        self.mtc.call("run", bundle, "--data", self.data[data], *recipe, "--quiet",
                      "--log", log, *dumps, timeout=600)
        result = Result(read_log(log), out)
        shutil.rmtree(bundle)
        shutil.rmtree(out)
        return {what: hashlib.sha256(repr(bits).encode()).hexdigest()[:16]
                for what, bits in result.bits.items()}


def record(mtc, part):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(mtc, folder)
        for name, *job in jobs(mtc):
            if part in name:
                found[name] = runner.digest(*job)
                print(name, found[name]["final parameters"], flush=True)
    return found


def differences(expected, found):
    """A sentence for each kind of bits that is another one."""
    return [f"{name}: {what} differ"
            for name in sorted(set(expected) & set(found))
            for what in expected[name] if expected[name][what] != found[name].get(what)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin", help="the folder of mtc in a build")
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file")
    parser.add_argument("--part", default="")
    options = parser.parse_args()
    found = record(Mtc(), options.part)
    if options.action == "record":
        with open(options.file, "w") as file:
            json.dump(found, file, indent=1)
        return 0
    with open(options.file) as file:
        expected = {name: bits for name, bits in json.load(file).items()
                    if options.part in name}
    wrong = differences(expected, found)
    lost = sorted(set(expected) - set(found))
    for sentence in wrong + [f"{name}: not run" for name in lost]:
        print(sentence)
    print(f"digests: {len(found)} runs, {len(wrong)} differences")
    return 1 if wrong or lost or not found else 0


if __name__ == "__main__":
    sys.exit(main())
