#!/usr/bin/env python3
"""How fast checkpoints are written, checked and loaded, beside `cp`.

A run of no step writes one of gpt2-124m (parameters and two moments, 1.5 GB), and another
loads it; both say on their progress how long they took. `verify` is `mtc checkpoint verify`.
`stall` is how long a run of four steps waits for one that is written beside training behind the
second (--async-save), in ms; `sync` for one that it writes itself. `cp` copies the same folder and fsyncs each file (`cp` and `sync FILES`), `cat` reads it. Files
were written just before, so what is read comes from memory.

usage: checkpoint.py BUILD_DIR BOOK [--runs N] [--folder DIR]
       BOOK: any file of at least 1 MB; tokens are its bytes
"""

import argparse
import glob
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

LAYOUTS = (["--gbs", "4", "--seq", "256"],
           ["--tp", "2", "--gbs", "4", "--seq", "256"],
           ["--dp", "2", "--zero", "1", "--gbs", "4", "--mbs", "1", "--seq", "256"])
WAITED = re.compile(r"checkpoint of step 2 written: .* in ([\d.]+) s, .*waited ([\d.]+) s")
WAITS = re.compile(r"checkpoint of step 2 written: .* in ([\d.]+) s")
GIGABYTES = re.compile(r"checkpoint of step 0 (written|loaded by rank 0): .*, ([\d.]+) GB/s")


def timed(*command, **options):
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    return time.perf_counter() - begin, done.stderr


def told(text, what):
    return next(float(rate) for found, rate in GIGABYTES.findall(text) if found == what)


class Bench:
    def __init__(self, mtc, book, folder):
        self.mtc, self.book, self.folder = mtc, book, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, bundle, *options):
        return timed(self.mtc, "run", bundle, "--data", self.book, "--data-type", "u8",
                     "--steps", "0", "--progress", "plain", *options)[1]

    def stalls(self, bundle):
        """Milliseconds: of a checkpoint written beside training, and of one that is not."""
        found = []
        for options in (["--async-save"], []):
            shutil.rmtree(self.path("beside"), ignore_errors=True)
            told = timed(self.mtc, "run", bundle, "--data", self.book, "--data-type", "u8",
                         "--steps", "4", "--progress", "plain", "--checkpoints",
                         self.path("beside"), "--save-interval", "2", *options)[1]
            match = (WAITED if options else WAITS).search(told)
            found.append(1e3 * float(match.groups()[-1]))
        shutil.rmtree(self.path("beside"))
        return {"stall": found[0], "sync": found[1]}

    def once(self, bundle):
        """GB/s by what is done."""
        for name in ("saved", "again", "copy"):
            shutil.rmtree(self.path(name), ignore_errors=True)
        rates = {"write": told(self.run(bundle, "--checkpoints", self.path("saved")), "written")}
        saved = self.path("saved/step-00000000")
        size = 1e-9 * sum(os.path.getsize(f) for f in glob.glob(saved + "/*"))
        begin = time.perf_counter()
        timed("cp", "-r", saved, self.path("copy"))
        timed("sync", *glob.glob(self.path("copy/*")))
        rates["cp"] = size / (time.perf_counter() - begin)
        rates["verify"] = size / timed(self.mtc, "checkpoint", "verify", saved)[0]
        rates["cat"] = size / timed("sh", "-c", f"cat {saved}/* > /dev/null")[0]
        rates["load"] = told(self.run(bundle, "--load", saved, "--dump", "init",
                                      self.path("again")), "loaded by rank 0")
        return rates | self.stalls(bundle)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("book")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", help="on the file system to be measured")
    options = parser.parse_args()
    mtc = os.path.join(options.build, "bin", "mtc")
    names = ("write", "cp", "verify", "cat", "load", "stall", "sync")
    print(f"{'GB/s; ms':44}" + "".join(f"{name:>9}" for name in names) + "  write/cp")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        bench = Bench(mtc, options.book, folder)
        for layout in LAYOUTS:
            bundle = os.path.join(folder, "bundle")
            subprocess.run([mtc, "compile", "gpt2-124m", *layout, "-o", bundle], check=True,
                           stdout=subprocess.DEVNULL)
            runs = [bench.once(bundle) for _ in range(options.runs)]
            rates = {name: statistics.median(run[name] for run in runs) for name in names}
            ratio = statistics.median(run["write"] / run["cp"] for run in runs)
            print(f"{'gpt2-124m ' + ' '.join(layout):44}"
                  + "".join(f"{rates[name]:9.2f}" for name in names) + f"{ratio:10.2f}",
                  flush=True)


if __name__ == "__main__":
    main()
