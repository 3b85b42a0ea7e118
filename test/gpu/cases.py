"""What is compiled here and run on a machine with a GPU.

A check is a small model, a type and a layout, whose losses, norms and gradients are known from the
CPU; a benchmark is a model of real size. `make` and `run` of one checkout belong together.
"""

from dataclasses import dataclass, field

from gpu_checks import SMALL as HEADS_OF_64

SMALL, TINY = "heads-of-64", "tiny"
SPECS = {SMALL: HEADS_OF_64,
         TINY: {"name": TINY, "vocab": 250, "padded": 256, "layers": 2, "hidden": 16, "heads": 2, "ffn": 32,
                "longest": 8, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}}
NO_DROPOUT = [word for part in ("embedding", "attention", "hidden")
              for word in ("--set", f"model.dropout.{part}=0.0")]


@dataclass
class Check:
    dtype: str
    ranks: int = 1
    options: list = field(default_factory=list)
    spec: str = "gpt2-nano"
    chip: str = "sm_90"

    @property
    def name(self):
        words = [word.strip("-").replace(",", "-") for word in self.options if word != "1"]
        words += [self.chip] * (self.chip != "sm_90")
        return "-".join([self.spec, self.dtype, *words])


@dataclass
class Benchmark:
    """Seconds of a step are the median over `steps` behind the first five."""
    name: str
    spec: str
    dtype: str
    samples: int
    steps: int = 20
    peer: bool = False  # PyTorch trains the same
    chip: str = "sm_90a"


@dataclass
class Program:
    """Of TINY, in f32. What it is held to is another run of it."""
    name: str
    options: list


CHECKS = [Check("f32"), Check("bf16"), Check("fp16", spec=SMALL), Check("bf16-sums"),
          Check("bf16", spec=SMALL), Check("bf16", spec=SMALL, chip="sm_90a"),
          Check("fp16", spec=SMALL, chip="sm_90a"),
          Check("bf16", 2, ["--dp", "2"], spec=SMALL), Check("f32", 4, ["--tp", "2", "--pp", "2"]),
          Check("bf16", 2, ["--dp", "2", "--zero", "1", "--overlap", "grad-reduce,param-gather"]),
          Check("f32", 4, ["--tp", "2", "--cp", "2", "--sp"]),
          Check("f32", 2, ["--pp", "2", "--schedule", "zb-h1"])]
# The first one only shows that this works: it runs without a GPU, too.
BENCHMARKS = [Benchmark("gpt2-nano", "gpt2-nano", "bf16", 2, steps=2),
              Benchmark("gpt2-124m", "gpt2-124m", "bf16", 8, peer=True),
              Benchmark("gpt2-124m-b32", "gpt2-124m", "bf16", 32, peer=True),
              Benchmark("gpt2-124m-f32", "gpt2-124m", "f32", 8, steps=8),
              Benchmark("gpt2-774m", "gpt2-774m", "bf16", 8, steps=10, peer=True)]

# Runs in which steps are no updates: what is skipped and how a run ends is the CPU's, while the GPU
# has begun the step behind. The scale grows until it overflows, again and again; a rate spoils the
# parameters. Of the bundle of a check, by its name.
ENDS = {"skips": ("heads-of-64-fp16", ["--steps", "7", "--initial-loss-scale", str(2 ** 22), "--loss-scale-window",
                                       "2", "--hysteresis", "1"]),
        "spoils": ("heads-of-64-fp16", ["--steps", "3", "--lr", "1e5", "--min-lr", "1e5", "--clip", "0",
                                        "--initial-loss-scale", "1024"])}

# Steps of many microbatches, which are several graphs where a graph may have MOST_NODES; and one whose
# ranks are killed.
LONG = [Program("long", ["--mbs", "1", "--gbs", "32"]), Program("long-pp-2", ["--mbs", "1", "--gbs", "32", "--pp", "2"])]
DEATHS = [Program("deaths", ["--mbs", "1", "--gbs", "16", "--tp", "2", "--dp", "2"])]
MOST_NODES = 200

STEPS = 4
# Of the last step, which is the third that graphs compute: one up to the norm, and one behind
# the dump.
GRADIENTS = f"grads@{STEPS}"


def reading(folder, results):
    """Options of `mtc run` for any check."""
    return ["--quiet", "--data", f"{folder}/tokens", "--data-type", "u8", "--warmup", "1", "--log", f"{results}/log.jsonl"]


def training(folder, results):
    """Options of `mtc run` for a check of numbers."""
    return [*reading(folder, results), "--steps", str(STEPS), "--initial-loss-scale", "1024"]
