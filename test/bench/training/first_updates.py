"""How far AdamW carries gradients that are rounding alone: tp 2 beside tp 1.

    first_updates.py BUILD [--steps 6] [--draws 100] [options of mtc run]

Trains a model of 7,208 parameters, one sample of 12 tokens a step, with one process and
with two along tp, for draws of tokens and values of AdamW's eps. Prints, by the number of
elements that the first step leaves more than 1 % of the rate apart, how many draws had
so many, the largest relative difference of their losses and gradient norms, and that of
the gradients of these elements over the global norm. The first updates are of the
rate's size whatever the gradient's, unless it is below eps. Standard library only.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "..", "integration"))
import run_layout  # noqa: E402
import safetensors  # noqa: E402

SPEC = """name = "few-tokens"
vocab = 40
padded_vocab = 48
layers = 3
hidden = 16
heads = 4
kv_heads = 1
ffn = 32
max_seq = 12
tied = false
[attention]
qkv = "separate"
[dropout]
embedding = 0.1
attention = 0.1
hidden = 0.1
"""
EPS = ("1e-8", "1e-5")
WAYS = ("1", "2")


class Trainer:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.mtc = os.path.join(options.build, "bin", "mtc")

    def file(self, name):
        return os.path.join(self.folder, name)

    def compile(self):
        with open(self.file("spec.toml"), "w") as file:
            file.write(SPEC)
        for tp in WAYS:
            subprocess.run([self.mtc, "compile", self.file("spec.toml"), "--gbs", "1", "--tp",
                            tp, "-o", self.file(tp)], check=True, stdout=subprocess.DEVNULL)

    def draw(self, number):
        tokens = bytes(random.Random(number).choices(range(40), k=10000))
        with open(self.file("tokens"), "wb") as file:
            return file.write(tokens)

    def run(self, tp, eps):
        """Steps, gradients of the first one, and parameters behind it."""
        log = self.file("log.jsonl")
        subprocess.run([self.mtc, "run", self.file(tp), "--data", self.file("tokens"),
                        "--data-type", "u8", "--eps", eps, "--steps",
                        str(self.options.steps), "--log", log, "--quiet", "--dump", "grads@1",
                        self.folder, "--dump", "params@1", self.folder,
                        *self.options.recipe], check=True)
        found = (run_layout.read_log(log), *(self.elements(f"{what}@1.safetensors")
                                             for what in ("grads", "params")))
        os.remove(log)
        return found

    def elements(self, name):
        tensors = safetensors.read(self.file(name))
        return [x for key in sorted(tensors) for x in tensors[key].values()]


def compare(trainer, eps):
    (one, g, p), (two, h, q) = (trainer.run(tp, eps) for tp in WAYS)
    worst = [max(abs(a[key] - b[key]) / a[key] for a, b in zip(one, two))
             for key in ("loss", "grad_norm")]
    apart = [i for i in range(len(p)) if abs(p[i] - q[i]) > 0.01 * one[0]["lr"]]
    rounding = max((abs(g[i] - h[i]) for i in apart), default=0) / one[0]["grad_norm"]
    return len(apart), *worst, rounding


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--draws", type=int, default=100)
    options, options.recipe = parser.parse_known_args()
    print(f"{'eps':>5} {'apart':>6} {'draws':>6} {'loss':>8} {'norm':>8} {'rounding':>9}")
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(options, folder)
        trainer.compile()
        for eps in EPS:
            draws = [trainer.draw(number) and compare(trainer, eps)
                     for number in range(options.draws)]
            for apart in sorted({draw[0] for draw in draws}):
                of = [draw for draw in draws if draw[0] == apart]
                loss, norm, rounding = (max(draw[i] for draw in of) for i in (1, 2, 3))
                print(f"{eps:>5} {apart:6} {len(of):6} {loss:8.1e} {norm:8.1e} {rounding:9.1e}",
                      flush=True)


if __name__ == "__main__":
    main()
