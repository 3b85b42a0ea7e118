#!/usr/bin/env python3
"""What masks of documents cost, and what they spare.

One process trains the same model by turns: without masks, with each and with all of them, on
tokens whose documents have LENGTH tokens on average (of a geometric distribution), and on
tokens without an end. Of each the median milliseconds of a step over all rounds, and the
processor time of a step, which a loaded machine changes less: that of a run over its steps,
start-up included.

usage: documents.py BIN_DIR [--seq 1024] [--length 256] [--rounds 5] [--steps 8]
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

EOD, WARM_UP, BATCH = 255, 1, 2
MODEL = ("gpt2-tiny", "--set", "model.hidden=256", "--set", "model.ffn=1024")
ALL = ("--mask-document-ends", "--reset-positions", "--reset-attention")
# name: options of compile, whether documents end
WAYS = {"no masks": ((), True), "ends left out of the loss": (ALL[:1], True),
        "positions": (ALL[1:2], True), "attention": (ALL[2:], True), "all": (ALL, True),
        "all, no document ends": (ALL, False)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("bin")
    for name, default in (("seq", 1024), ("length", 256), ("rounds", 5), ("steps", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def write_tokens(path, count, length):
    """`length` 0: no token ends a document."""
    draw = random.Random(5)
    with open(path, "wb") as file:
        file.write(bytes(EOD if length and draw.random() < 1 / length else draw.randrange(EOD)
                         for _ in range(count)))


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one(mtc, bundle, tokens, steps, log, documents):
    """Milliseconds of each step, and of the processor for one."""
    before = processor_seconds()
    subprocess.run([mtc, "run", bundle, "--data", tokens, "--data-type", "u8", "--quiet",
                    "--steps", str(steps + WARM_UP), "--log", log,
                    *(["--eod", str(EOD)] if documents else [])], check=True)
    used = 1e3 * (processor_seconds() - before) / (steps + WARM_UP)
    with open(log) as file:
        rows = [json.loads(line) for line in file][1 + WARM_UP:]
    os.remove(log)
    return [row["step_ms"] for row in rows], used


def main():
    options = parse()
    mtc = os.path.join(options.bin, "mtc")
    found = {way: ([], []) for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        files = {ends: os.path.join(folder, f"tokens-{ends}") for ends in (True, False)}
        for ends, path in files.items():
            write_tokens(path, BATCH * options.seq * (options.steps + WARM_UP + 1),
                         options.length if ends else 0)
        for way, (more, _) in WAYS.items():
            subprocess.run([mtc, "compile", *MODEL, "--set", f"model.max_seq={options.seq}",
                            "--gbs", str(BATCH), *more, "-o", os.path.join(folder, way)],
                           check=True, stdout=subprocess.DEVNULL)
        for _ in range(options.rounds):
            for way, (more, ends) in WAYS.items():
                steps, used = one(mtc, os.path.join(folder, way), files[ends], options.steps,
                                  os.path.join(folder, "log"), bool(more))
                found[way][0].extend(steps)
                found[way][1].append(used)
    base = [statistics.median(values) for values in found["no masks"]]
    print(f"{BATCH} samples of {options.seq} tokens, documents of {options.length} on average, "
          f"{options.rounds} rounds of {options.steps} steps, medians")
    for way, values in found.items():
        step, used = (statistics.median(each) for each in values)
        print(f"{way:26} step {step:8.1f} ms ({100 * (step / base[0] - 1):+.1f} %), processor "
              f"{used:8.1f} ms ({100 * (used / base[1] - 1):+.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
