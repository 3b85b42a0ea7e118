#!/usr/bin/env python3
"""Measures the tables of products that come with mtc, on the machine that runs it.

Each case is a model, a microbatch and a layout of ranks whose products many runs have. A
case is measured `--repeats` times, in turn with the others, by `mtc tune`; one of oneDNN's
two kernels is taken for a product only where that very one won each time, and times are
medians. Let nothing else run; a case takes 5 to 60 s. `--before COMMAND` is put in front of
each `mtc tune`, for machines that have such a command to be alone for a while.

usage: make.py MTC TYPE FILE [--repeats 3] [--before COMMAND...]

TYPE is f32 or bf16: with AVX-512-BF16 these are of two instruction sets. Example:
  python3 models/gemm_tables/make.py build/bin/mtc f32 models/gemm_tables/zen5-f32.json
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

MODELS = ("gpt2-124m", "gpt2-355m")
SAMPLES = ((1, 64), (1, 256), (1, 1024))  # of a microbatch, and their tokens
TIMES = ("own_us", "onednn_us", "inner_product_us", "packed_us", "pack_us")
LAYOUTS = {"1 rank x 2 threads": ("--threads-per-rank", 2), "tp 2 x 1 thread": ("--tp", 2)}
PRODUCT = ("m", "n", "k", "a_transposed", "b_transposed", "adds", "type", "result", "threads")


def cases(dtype):
    for model in MODELS:
        for samples, tokens in SAMPLES:
            for name, layout in LAYOUTS.items():
                yield (f"{model}, {samples} x {tokens}, {name}",
                       [model, "--mbs", samples, "--gbs", 2 * samples, "--seq", tokens,
                        "--dtype", dtype, *layout])


def run(*command):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: code {done.returncode}\n{done.stderr}")


def measure(options, compile_options, folder):
    bundle, file = os.path.join(folder, "case"), os.path.join(folder, "case.json")
    run(options.mtc, "compile", *compile_options, "-o", bundle)
    run(*options.before, options.mtc, "tune", bundle, "-o", file)
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def key_of(row):
    return tuple(row[key] for key in PRODUCT)


def median(times):
    known = [time for time in times if time is not None]
    return round(statistics.median(known), 2) if known else None


def merged(tables):
    """One table of all; a product that several measured counts once for each."""
    head = {key: value for key, value in tables[0].items() if key != "products"}
    rows = {}
    for table in tables:
        assert all(table[key] == value for key, value in head.items()), "one machine, one mtc"
        for row in table["products"]:
            rows.setdefault(key_of(row), []).append(row)
    products = []
    for key in sorted(rows):
        same = rows[key]
        won = {row["kernel"] for row in same}
        products.append({**dict(zip(PRODUCT, key)), "kernel": won.pop() if len(won) == 1 else "own",
                         **{time: median([row[time] for row in same]) for time in TIMES}})
    return {**head, "products": products}


def write(table, file):
    """A line a product."""
    head = [f" {json.dumps(key)}: {json.dumps(value)}"
            for key, value in table.items() if key != "products"]
    rows = ",\n".join("  " + json.dumps(row) for row in table["products"])
    with open(file + ".new", "w", encoding="utf-8") as text:
        text.write("{\n" + ",\n".join(head) + ',\n "products": [\n' + rows + "\n ]\n}\n")
    os.replace(file + ".new", file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("mtc")
    parser.add_argument("dtype", choices=["f32", "bf16"])
    parser.add_argument("file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--before", nargs="+", default=[])
    options = parser.parse_args()
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeats):
            for name, compile_options in cases(options.dtype):
                tables.append(measure(options, compile_options, folder))
                print(f"{repeat + 1}/{options.repeats} {name}: "
                      f"{len(tables[-1]['products'])} products", flush=True)
    table = merged(tables)
    write(table, options.file)
    by_library = sum(row["kernel"] != "own" for row in table["products"])
    print(f"{options.file}: {len(table['products'])} products, {by_library} by oneDNN")


if __name__ == "__main__":
    main()
