"""Every pair of choices meets in a layout that is trained, with dropout: tp, sp, cp, pp,
chunks, schedule, dp, ZeRO, order of ranks, recompute, what is saved in parts, overlap, a
thread of collectives, weights packed once a step, uneven stages, tying, form of qkv, heads of keys and values, kind of
norm and types (pairs.py). Each is held to one
process (N5: losses, norms and every gradient of step 1) and to the plain layout that has
its bits (N4: one stage, nothing sharded or computed again).

usage: test_pairs.py BIN_DIR [--rows N] [--seed N] [--write FILE]

--rows takes that many by seed; without it all of them run, and --write says in FILE what
was trained. Layouts take turns with the transports.
"""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
import time

import corpus
import precision
from layouts import SINGLE
from pairs import FACTORS, RULES, covering, layout_of, plain
from run_layout import Failed, Mtc, Report
from test_matrix import BOUNDS, Model

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = os.path.join(HERE, "..", "..", "models", "specs", "gpt2-nano.toml")
OF_MODEL = ("tied", "qkv", "kv_heads", "norm", "dtype")


def spec_of(row, folder):
    """A file with gpt2-nano of other tying, qkv and norm."""
    with open(SPEC) as file:
        text = file.read()
    for pattern, value in ((r"tied = \w+", f"tied = {str(row['tied']).lower()}"),
                           (r'qkv = "\w+"', f'qkv = "{row["qkv"]}"'),
                           (r"heads = 4", f"heads = 4\nkv_heads = {row['kv_heads']}"),
                           (r'kind = "layer_norm"', f'kind = "{row["norm"]}"')):
        text, count = re.subn(pattern, value, text, count=1)
        assert count == 1, pattern
    name = "-".join(str(row[key]) for key in OF_MODEL)
    path = os.path.join(folder, f"{name}.toml")
    with open(path, "w") as file:
        file.write(text)
    return path


class Pairs:
    """Models by their choices, each with its reference, trained when first needed."""

    def __init__(self, mtc, report, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.data = os.path.join(folder, "data.bin")
        corpus.write(self.data)
        self.models, self.runs = {}, 0

    def train(self, model, row, layout):
        """Compiles and trains; whether the bits are those of the class."""
        bundle = os.path.join(self.folder, "bundle")
        comm = ("shm", "threads")[self.runs % 2]
        self.runs += 1
        try:
            self.mtc.compile(spec_of(row, self.folder), layout, bundle,
                             precision.options(row["dtype"]))
            return model.train(layout, bundle, [comm])
        except Failed as failure:
            return self.report.expect(False, f"{layout.name} trains: {failure}")
        finally:
            shutil.rmtree(bundle, ignore_errors=True)

    def model_of(self, row):
        key = tuple(row[name] for name in OF_MODEL)
        if key not in self.models:
            name = "-".join(str(part) for part in key)
            # Sums in bf16 follow one process that sums so, too.
            dtype = row["dtype"] if row["dtype"] in BOUNDS else "bf16"
            model = Model(self.mtc, self.report, name, BOUNDS[dtype], self.data,
                          self.folder)
            self.models[key] = model
            self.train(model, row, SINGLE)
        return self.models[key]

    def run(self, row):
        model, layout = self.model_of(row), layout_of(row)
        if plain(layout).numerics_class not in model.classes:
            self.train(model, row, plain(layout))
        return self.train(model, row, layout)


def describe(row):
    return " ".join(f"{name}={value}" for name, value in row.items())


def page(rows, impossible, models):
    """What was trained, for people."""
    worst = {}
    for (*_, dtype), model in models.items():
        for key, value in model.worst.items():
            worst[dtype, key] = max(value, worst.get((dtype, key), 0.0))
    lines = ["# The matrix of choices", "",
             "`test/integration/test_pairs.py BIN_DIR --write docs/matrix.md` trains these "
             "layouts of gpt2-nano, with dropout, and writes this page. Every pair of values",
             "of two columns meets in a row, unless a rule below says that it cannot. Each row "
             "has the bits of the plain layout of equal tp, sp, cp, dp, micro-batch and model, with "
             "ZeRO-2 if it has it",
             "(N4: losses, norms, gradients of step 1, parameters at the end), and agrees with "
             "one process within the bounds of N5. Worst differences: "
             + "; ".join(f"{dtype} {key} {value:.1e}"
                         for (dtype, key), value in sorted(worst.items())) + ".", "",
             "| " + " | ".join(FACTORS) + " |", "|" + "---|" * len(FACTORS)]
    lines += ["| " + " | ".join(str(row[name]) for name in FACTORS) + " |" for row in rows]
    lines += ["", f"{len(impossible)} pairs cannot meet, by these rules:", ""]
    lines += [f"* {sentence}" for sentence, _, _ in RULES]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write")
    options = parser.parse_args()
    mtc, report, start = Mtc(), Report(), time.monotonic()
    compiled = {*mtc.schedules(), "interleaved-1f1b"}
    report.expect(compiled == set(FACTORS["schedule"]),
                  f"expected the schedules of pairs.py, found {sorted(compiled)}")
    everything, impossible = covering()
    rows = everything
    if options.rows:
        rows = random.Random(options.seed).sample(everything, options.rows)
    with tempfile.TemporaryDirectory() as folder:
        pairs = Pairs(mtc, report, folder)
        for number, row in enumerate(rows):
            begin = time.monotonic()
            same = pairs.run(row)
            print(f"{number + 1}/{len(rows)} {describe(row)} "
                  f"{'same bits' if same else 'DIFFERS'} {time.monotonic() - begin:.1f} s",
                  flush=True)
        if options.write and not options.rows and not report.failures:
            with open(options.write, "w") as file:
                file.write(page(rows, impossible, pairs.models))
    return report.finish(f"{len(rows)} of {len(everything)} layouts that pair all choices, in "
                         f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
