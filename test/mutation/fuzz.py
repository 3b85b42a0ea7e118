"""Feeds the compiler IR that is wrong in ways that nobody thought of.

    fuzz.py BIN_DIR [--edits 5000] [--seed 1] [--part edits|from|passes]

  edits   random edits of the text of every phase's IR, compiled from there on
  from    every file of --save-ir with every --from: of the same phase it compiles, of
          another it is rejected, and never taken silently
  passes  every pass of mtc-opt on every file

No run may end by a signal or with another exit code than 0 and 4 (mtc) or 0 and 1
(mtc-opt). What ended otherwise is printed with its command; --keep writes the texts.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from bench import Bench, Stuck, call
from plans import Plan, layout
from run_layout import Mtc

PLANS = (Plan(layout(tp=2, pp=2, dp=2, zero=1)), Plan(layout(tp=2), dtype="bf16"))

TOKEN = re.compile(r'%\w+|@\w+|"[^"]*"|#\w+\.\w+|[\w.+-]+|[^\s\w]')
JUNK = ["-1", "0", "1", "9223372036854775807", "99999999999999999999", "4294967296", "%0",
        "@x", '""', '"tp"', "{", "}", "<", ">", "[", "]", "tensor<0xf32>", "tensor<*xf32>",
        "tensor<?xf32>", "memref<f64>", "f16", "i1", "index", "true", "unit", "nan", "0x7FC00000",
        "array<i64>", "array<i64: -1>", "[]", "{}", ":", "->", ""]


def edit(generator, text):
    """One to three random edits of tokens or lines, most near one place."""
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        lines = text.split("\n")
        at = generator.randrange(len(lines))
        kind = generator.choice(("token", "token", "token", "swap", "drop", "copy", "line",
                                 "attribute", "cut"))
        tokens = list(TOKEN.finditer(lines[at]))
        if kind == "line":
            lines.insert(at, lines[generator.randrange(len(lines))])
        elif kind == "cut" and generator.random() < 0.2:
            lines = lines[:at]
        elif kind == "attribute":
            lines[at] = re.sub(r"[\w.]+ = [^,{}\[\]<>]*(, )?", "", lines[at], count=1)
        elif tokens:
            a = generator.choice(tokens)
            b = generator.choice(tokens)
            line = lines[at]
            new = {"token": generator.choice(JUNK + [b[0]]), "swap": b[0], "drop": "",
                   "copy": f"{a[0]} {a[0]}"}.get(kind, a[0])
            lines[at] = line[:a.start()] + new + line[a.end():]
        text = "\n".join(lines)
    return text


class Fuzzer:
    def __init__(self, folder, options):
        self.mtc = Mtc()
        self.opt = os.path.join(os.path.dirname(self.mtc.program), "mtc-opt")
        self.folder, self.options = folder, options
        self.benches = [Bench(self.mtc.program, plan, os.path.join(folder, plan.name))
                        for plan in PLANS]
        self.wrong, self.runs, self.accepted = [], 0, 0

    def run(self, command, allowed, text):
        """Runs on a file of `text`, whose place in the command is None."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            file = os.path.join(folder, "edited.mlir")
            with open(file, "w") as out:
                out.write(text)
            command = [file if word is None else word.replace("OUT", folder)
                       for word in command]
            try:
                done = call(command, 60)
                code, said = done.returncode, done.stderr
            except Stuck as stuck:
                code, said = "stuck", str(stuck)
        self.runs += 1
        self.accepted += code == 0
        if code not in allowed:
            self.report(command, code, said, text)
        return code

    def report(self, command, code, said, text):
        self.wrong.append(f"{code}: {' '.join(command[1:])}: {said.strip()[:300]}")
        print(f"WRONG {self.wrong[-1]}", flush=True)
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            name = os.path.join(self.options.keep, f"{len(self.wrong)}.mlir")
            with open(name, "w") as file:
                file.write(text)

    def all(self, jobs):
        if self.options.most and len(jobs) > self.options.most:
            jobs = random.Random(self.options.seed).sample(jobs, self.options.most)
        with ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(lambda job: job(), jobs))

    def edits(self):
        generator = random.Random(self.options.seed)
        jobs = []
        for number in range(self.options.edits):
            bench = self.benches[number % len(self.benches)]
            phase = generator.choice(list(bench.ir))
            text = edit(generator, bench.ir[phase])
            command = [self.mtc.program, "compile", None, "--from", phase, "--jobs", "1", "-o",
                       "OUT/bundle"]
            jobs.append(lambda c=command, t=text: self.run(c, (0, 4), t))
        self.all(jobs)

    def from_other_phases(self):
        """The phase of a file is the one of its name, or the one that a verifier only
        looked at."""
        def same(phase, other):
            names = list(self.benches[0].ir)
            def plain(name):
                while name.startswith("verify-"):
                    name = names[names.index(name) - 1]
                return name
            return plain(phase) == plain(other)

        jobs = []
        for bench in self.benches:
            for phase, text in bench.ir.items():
                for other in bench.ir:
                    # Also IR that does not say of which phase it is, or says another.
                    silent = re.sub(r', mtc.phase = "[^"]*"', "", text)
                    lying = re.sub(r'(mtc.phase = )"[^"]*"', rf'\1"{other}"', text)
                    for content in (text, silent, lying):
                        allowed = (0,) if same(phase, other) else (2, 4)
                        if content is silent and other != "import":
                            allowed = (2, 4)
                        if content is lying:  # an edit like any other: no crash
                            allowed = (0, 2, 4)
                        command = [self.mtc.program, "compile", None, "--from", other,
                                   "--compile-to", "verify-plan", "-o", "OUT/planned.mlir"]
                        jobs.append(lambda c=command, a=allowed, t=content: self.run(c, a, t))
        self.all(jobs)

    def passes(self):
        listed = call([self.opt, "--help"], 60).stdout
        ours = [phase for phase in self.benches[0].ir if f"--{phase} " in listed]
        ours += ["codegen-kernels", "lower-to-llvm"]
        jobs = [lambda p=name, t=text: self.run([self.opt, f"--{p}", None, "-o", "OUT/x"],
                                                (0, 1), t)
                for bench in self.benches for text in bench.ir.values() for name in ours]
        self.all(jobs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin")
    parser.add_argument("--edits", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int,
                        help="of each part, only as many runs, chosen by seed")
    parser.add_argument("--part", choices=("edits", "from", "passes"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="a folder for the texts of what went wrong")
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(folder, options)
        for name, part in (("passes", fuzzer.passes), ("from", fuzzer.from_other_phases),
                           ("edits", fuzzer.edits)):
            if options.part in (None, name):
                part()
                print(f"{name}: {fuzzer.runs} runs, {fuzzer.accepted} accepted, "
                      f"{len(fuzzer.wrong)} wrong, {time.monotonic() - start:.0f} s",
                      flush=True)
    print(f"fuzzer: {fuzzer.runs} runs, {len(fuzzer.wrong)} wrong")
    return 1 if fuzzer.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
