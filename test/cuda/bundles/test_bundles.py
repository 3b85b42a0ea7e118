#!/usr/bin/env python3
"""Programs for a GPU, trained without one.

usage: test_bundles.py BIN_DIR STAND_INS [--all] [--no-mpich]

gpt2-nano in f32 and bf16, with half of its layers, compiled for sm_90, runs under the stand-ins of driver, cuBLASLt and
NCCL: every kernel is executed from the PTX that a GPU would get. Losses, norms and the
gradients of step 1 are those of the same plan on the CPU. Another seed, by which streams run in
another order, changes no bit, though all that ranks exchange then goes through the host's memory: two ranks
have one order of sums. A small model with heads of 64 elements, whose kernels need more
shared memory than every launch may have, runs in the other types, with ranks as threads; it
saves beside training, and goes on from that to the same bits; a rank of it that is killed is
named. Steps that are skipped, and one whose gradients are not finite, which ends the run, leave
what they leave on the CPU, though the update is issued before anybody knows. Nothing may be said by the
stand-ins: they name every race and every byte that is read before it is written.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "integration"))

import checkpoints
import corpus
import precision
import safetensors
from gpu_checks import BOUNDS, SMALL
from layouts import GLOBAL_BATCH, Layout
from ranks_lock import one_at_a_time
from run_layout import Failed, Mtc, Report, read_log, relative, starts_ranks, steps_so_far
from small_spec import small_spec
from test_hosts import ByHand

SPEC, TARGET, STEPS = "gpt2-nano", ["--target", "cuda:sm_90"], 2
BATCH = 8  # two microbatches and more in every layout
LAUNCHED = (r"(cuda stand-in: launched (?P<graphs>%s) graphs of (?P<nodes>%s) nodes, (?P<ahead>%s) before "
            r"the host knew the end of the one before, by (?P<instances>\d+) instances of (?P<kept>\d+)\n)")
INFEASIBLE, USAGE, COMMUNICATION, PEER_DIED, GPU_FAILED = 4, 2, 14, 12, 20
CASES = [("bf16", Layout(dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=20000)),
         ("f32", Layout(tp=2, pp=2))]
SHALLOW = ["--set", "model.layers=2"]  # where CASES run in the tests; all layers by hand
# Steps that are no updates, what is said of them, and how many graphs of steps a rank then launches,
# how many of them before the results of the step before. Of six steps, whose rates count samples, some
# overflow, and the one behind each was issued by then: none is computed twice, and behind the first of
# two the host looks at parameters. A rate spoils these. Gradients alone are not finite, from weights that follow, in the
# third step, when the fourth is issued; that one adds as much again to those of the weights before,
# which are finite, so the third is computed again.
ENDS = {"fp16": [(["--samples", str(6 * BATCH), "--warmup-samples", str(2 * BATCH),
                   "--initial-loss-scale", str(2 ** 22), "--loss-scale-window", "1", "--hysteresis", "1"], "", 5, 3),
                 (["--steps", "3", "--lr", "1e5", "--min-lr", "1e5", "--clip", "0", "--initial-loss-scale", "1024"],
                  "step 2: the loss is not finite (loss nan); the parameters are not good either: ", 3, 1)],
        precision.SUMS: [(["--steps", "5", "--clip", "1", "--lr", "1e-38", "--min-lr", "0", "--init-from", "../overflowing"],
                          "step 3: the gradient of layers.0.mlp.up.weight is not finite (loss ", 4, 2)]}
OVERFLOWING = {"final_norm.scale": 1.52e10, "layers.0.norm1.scale": 5.4e29, "layers.0.attn.qkv.weight": 1 / 5.4e29,
               "layers.0.norm2.scale": 1e30, "layers.0.mlp.up.weight": 1e-30}
MOST_NODES = 30  # of a graph, so that each step of those has several
ORDERS = 20
TINY = {"name": "tiny", "vocab": 250, "padded": 256, "layers": 1, "hidden": 16, "heads": 2,
        "ffn": 32, "longest": 8, "norm": "layer_norm", "dropout": 0.1, "qkv": "fused"}
# By hand.
ALONE = Layout(micro_batch=BATCH)
MORE = [("bf16", ALONE), ("f32", ALONE), ("bf16", Layout(tp=2, pp=2)),
        ("bf16", Layout(2, 2, sp=True, recompute="selective")),
        ("f32", Layout(pp=2, schedule="interleaved-1f1b", chunks=2, recompute="full")),
        ("f32", Layout(1, 2, schedule="zb-h1")), ("f32", Layout(cp=2)),
        ("bf16", Layout(dp=2, zero=2, overlap="grad-reduce")),
        ("f32", Layout(1, 2, 2, 1, overlap="grad-reduce,param-gather")),
        ("f32", Layout(2, 1, 2, 1, sp=True, overlap="grad-reduce,param-gather")), ("f32", Layout(pp=4)),
        ("f32", Layout(2, 2, 2, 1, sp=True)), ("f32", Layout(tp=4)), ("bf16", Layout(dp=4, zero=1))]


def alone(bundle):
    """Ranks of a bundle, if it has several, beside no others."""
    return one_at_a_time() if starts_ranks(["run", bundle]) else contextlib.nullcontext()


class Tester:
    def __init__(self, mtc, report, stand_ins, folder):
        self.mtc, self.report, self.folder = mtc, report, folder
        self.stand_ins = stand_ins
        self.data = os.path.join(folder, "data")
        corpus.write(self.data)

    def compile(self, dtype, layout, *options, spec=SPEC, batch=BATCH):
        bundle = os.path.join(self.folder, "bundle")
        subprocess.run(["rm", "-rf", bundle], check=True)
        self.mtc.compile(spec, layout, bundle, [*precision.options(dtype), *options],
                         batch=batch)
        return bundle

    def run(self, bundle, place, *options, what="grads", steps=STEPS, says="", **environment):
        """Losses, also of evaluations, norms and gradients; what stand-ins say is `says`."""
        folder = os.path.join(self.folder, place)
        os.makedirs(folder, exist_ok=True)
        log = os.path.join(folder, "log.jsonl")
        said = os.path.join(folder, "said")
        command = [self.mtc.program, "run", bundle, "--quiet", "--data", self.data, "--data-type",
                   "u8", "--steps", str(steps), "--warmup", "1", "--initial-loss-scale", "1024", "--log", log, "--dump", what,
                   folder, *options]
        with alone(bundle):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300,
                                  env=dict(os.environ, MTC_STANDIN_REPORT=said, **environment))
        if done.returncode:
            raise Failed(f"{place}: exit code {done.returncode}: {done.stderr}")
        text = ""
        if os.path.exists(said):
            with open(said) as file:
                text = file.read()
        self.report.expect(re.fullmatch(says, text), f"{place}: the stand-ins say: {text}")
        rows = read_log(log)
        evaluated = [row["eval_loss"] for row in rows if "eval_loss" in row]
        rows = [row for row in rows if "loss" in row]
        tensors = safetensors.read(os.path.join(folder, f"{what}.safetensors"))
        return ([row["loss"] for row in rows] + evaluated, [row["grad_norm"] for row in rows],
                {name: tensor.values() for name, tensor in tensors.items()})

    def on_gpu(self, bundle, place, seed, *options, **environment):
        return self.run(bundle, place, *options, LD_LIBRARY_PATH=self.stand_ins,
                        MTC_STANDIN_SEED=str(seed), MTC_STANDIN_ALLOW="duplicate_gpu",
                        **environment)


def check_layout(tester, dtype, layout, model=()):
    name = f"{dtype}-{layout.name}"
    expected = tester.run(tester.compile(dtype, layout, *model), f"cpu-{name}")
    bundle = tester.compile(dtype, layout, *model, *TARGET)
    trace = os.path.join(tester.folder, f"trace-{name}.json")
    found = tester.on_gpu(bundle, f"gpu-{name}", 1, "--trace", trace)
    expect_close(tester, name, BOUNDS[dtype], expected, found)
    expect_streams(tester, layout, trace)
    again = tester.on_gpu(bundle, f"again-{name}", 2, "--comm", "shm")
    if max(layout.tp, layout.cp, layout.dp) == 2:
        tester.report.expect(again == found, f"{name}: another order of streams and no NCCL: "
                             "other bits")
    else:
        expect_close(tester, f"{name} without NCCL", BOUNDS[dtype], again, found)
    return bundle, found


def expect_streams(tester, layout, file):
    """What the plan has beside fragments is on the stream of collectives."""
    with open(file) as text:
        events = json.load(text)["traceEvents"]
    streams = {event["tid"] for event in events if event["ph"] == "X"}
    tester.report.expect(streams == ({0, 1} if layout.ranks > 1 else {0}),
                         f"{layout.name}: found spans of the streams {streams}")


def expect_close(tester, name, bounds, expected, found):
    losses, norms, gradients = expected
    loss = max(map(relative, losses, found[0]))
    norm = max(map(relative, norms, found[1]))
    errors = {name: safetensors.distance(gradients[name], found[2][name])
              / max(safetensors.norm(gradients[name]), 1e-6) for name in gradients}
    worst = max(errors, key=errors.get)
    print(f"{name}: loss within {loss:.1e}, norm {norm:.1e}, gradients {errors[worst]:.1e}",
          flush=True)
    tester.report.expect(len(found[0]) == STEPS and loss <= bounds[0] and norm <= bounds[1]
                         and errors[worst] <= bounds[2],
                         f"{name}: loss {loss:.1e}, norm {norm:.1e}, gradient of {worst} "
                         f"{errors[worst]:.1e}, allowed {bounds}")


def check_own_products(tester, dtype, layout, model, bundle, found):
    """Our own kernels multiply in place of cuBLASLt. In f32 their epilogues have the bits of
    kernels behind products: there is nothing to round between, and one GELU."""
    own = tester.on_gpu(bundle, "own", 1, MTC_CUDA_GEMM="own")
    plain = tester.compile(dtype, layout, *model, *TARGET, "--gemm-epilogues", "none")
    apart = tester.on_gpu(plain, "own-without-epilogues", 1, steps=1, MTC_CUDA_GEMM="own")
    tester.report.expect(apart == (own[0][:1], own[1][:1], own[2]), "products of our own with epilogues and without: "
                         f"expected the same bits, found {own[:2]} and {apart[:2]}")
    expect_close(tester, "products of our own", BOUNDS["f32"], found, own)
    tester.report.expect(own != found, "expected another order of sums in products of our own")


def check_small(tester):
    """Other types, threads, heads of 64 elements."""
    spec = os.path.join(tester.folder, "small.toml")
    with open(spec, "w") as file:
        file.write(small_spec(tied=True, **{**SMALL, "layers": 1}))
    layout = Layout(dp=2, zero=1)
    for dtype, batch, layers in (("fp16", BATCH, 1), (precision.SUMS, GLOBAL_BATCH, 2)):  # of which OVERFLOWING is
        model = ["--set", f"model.layers={layers}"]
        bundle = tester.compile(dtype, layout, *model, spec=spec, batch=batch)
        expected = tester.run(bundle, f"cpu-small-{dtype}")
        if any("../overflowing" in options for options, *_ in ENDS[dtype]):
            write_overflowing(tester, bundle)
        ends = [End(tester, bundle, *options) for options, *_ in ENDS[dtype]]
        bundle = tester.compile(dtype, layout, *model, *TARGET, spec=spec, batch=batch)
        found = tester.on_gpu(bundle, f"gpu-small-{dtype}", 1, "--comm", "threads")
        expect_close(tester, f"small-{dtype}", BOUNDS[dtype], expected, found)
        for end, facts in zip(ends, ENDS[dtype]):
            check_end(tester, dtype, end, bundle, *facts)
    check_resume(tester, bundle, found)
    check_death(tester)
    check_chips(tester, layout, spec)
    check_graphs(tester, spec)
    check_orders(tester)


def check_chips(tester, layout, spec):
    """A rank takes the newest code that its GPU runs: of sm_90a, where attention is by
    warpgroups, on a GPU of 9.0 alone. There it tries the cubin, if there is one, and goes on
    with the PTX; elsewhere the cubins are not for it."""
    cubin = cubins()
    several = tester.compile("bf16", layout, "--target", "cuda:sm_100,sm_86,sm_90a", *cubin, spec=spec)
    found = {}
    for capability, chip in (("90", "sm_90a"), ("89", "sm_86"), ("120", "sm_100")):
        targets = ", ".join(sorted(["sm_80", chip]))  # the norm is of sm_80
        tried = 2 if cubin and capability == "90" else 0
        found[capability] = tester.on_gpu(several, f"chips-{capability}", 1, "--comm", "threads", MTC_STANDIN_CAPABILITY=capability,
                                          MTC_STANDIN_MODULES="1",
                                          says=f"cuda stand-in: loaded modules for {targets} and refused {tried} cubins\n")
    # As processes, which have the texts of the plan, where mtc has them all.
    alone = tester.on_gpu(several, "chips-processes", 1, "--comm", "shm", MTC_STANDIN_CAPABILITY="90")
    tester.report.expect(alone == found["90"], "expected the bits of ranks in one process in several")
    says = ("for cuda:sm_86,sm_90a,sm_100: expected a GPU of sm_90a alone, or of sm_86 or newer, found NVIDIA H100 80GB "
            "HBM3 (sm_80); compile with a --target that has sm_80 or an older one")
    done = subprocess.run([tester.mtc.program, "run", several, "--quiet", "--data", tester.data, "--data-type", "u8",
                           "--steps", "1", "--comm", "threads"], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, LD_LIBRARY_PATH=tester.stand_ins, MTC_STANDIN_CAPABILITY="80"))
    tester.report.expect(done.returncode == INFEASIBLE and says in done.stderr,
                         f"an older GPU: expected exit {INFEASIBLE} and '{says}', found {done.returncode}: {done.stderr}")
    tester.report.expect(found["89"] == found["120"], "expected the bits of GPUs of 8.9 on one of 12.0")
    expect_close(tester, "by warpgroups", BOUNDS["bf16"], found["89"], found["90"])


def cubins():
    """Beside PTX; the stand-in refuses them as those of another architecture, and ranks go on with the PTX."""
    places = os.environ.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin"
    return ["--cubin"] if shutil.which("ptxas", path=places) else []


def check_graphs(tester, spec):
    """From the second walk on rows are graphs, on both streams, between evaluations: with the
    bits of launches one by one, in another order of streams. Each rank launches a graph for 5
    of 6 steps, two for the one whose gradients are dumped, and one for 1 of 2 evaluations. That of the
    third step is launched before the results of the second are known: all others are behind results
    that somebody needs, or behind the first of their kind."""
    layout = Layout(dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=20000)
    bundle = tester.compile("bf16", layout, *TARGET, spec=spec)
    options = ["--eval-data", tester.data, "--eval-interval", "5", "--eval-steps", "1", "--dump", "grads@4", tester.folder]
    said = LAUNCHED + "{2}"
    one, two = (tester.on_gpu(bundle, f"graphs{number}", number, *options, *more, what="params",
                              steps=6, says=said % counts, MTC_STANDIN_GRAPHS="1")
                for number, more, counts in ((1, (), ("7", r"\d{3,}", "1")),
                                             (2, ("--no-graph",), ("0", "0", "0"))))
    tester.report.expect(one == two and len(one[0]) == 8,
                         f"graphs: expected {two[:2]} and the same parameters, found {one[:2]}")


def tiny_spec(tester):
    spec = os.path.join(tester.folder, "tiny.toml")
    with open(spec, "w") as file:
        file.write(small_spec(tied=True, **TINY))
    return spec


def check_orders(tester):
    """A tiny program, whose collectives run beside fragments, in ORDERS orders of its streams."""
    bundle = tester.compile("bf16", Layout(dp=2, zero=1, overlap="grad-reduce,param-gather",
                                           bucket=800), *TARGET, spec=tiny_spec(tester))
    found = [tester.on_gpu(bundle, "orders", seed) for seed in range(1, ORDERS + 1)]
    other = [seed for seed, each in enumerate(found, 1) if each != found[0]]
    tester.report.expect(not other, f"orders of streams: of seeds {other} other bits than of 1")


def write_overflowing(tester, bundle):
    """Initial weights of which a gradient is beyond bf16 in the third step, and nothing else is."""
    tester.run(bundle, "initial", what="init", steps=1)
    initial = {name: (tensor.shape, tensor.values()) for name, tensor in
               safetensors.read(os.path.join(tester.folder, "initial", "init.safetensors")).items()}
    for name, factor in OVERFLOWING.items():
        for i, value in enumerate(initial[name][1]):
            initial[name][1][i] = value * factor
    safetensors.write(os.path.join(tester.folder, "overflowing"), initial)


class End:
    """How a run ends, and what it leaves: its exit code, what it says, its log and parameters."""

    def __init__(self, tester, bundle, *options, **environment):
        with tempfile.TemporaryDirectory(dir=tester.folder) as folder, alone(bundle):
            done = subprocess.run(
                [tester.mtc.program, "run", bundle, "--quiet", "--data", tester.data, "--data-type", "u8",
                 *([] if "--samples" in options else ["--warmup", "1"]), "--log", "log", "--save", "saved", *options], capture_output=True,
                text=True, timeout=120, cwd=folder, env=dict(os.environ, **environment))
            self.code = done.returncode
            told = re.search(r"step \d+: .*", done.stderr)
            self.said = told[0] if told else ""
            self.rows = read_log(os.path.join(folder, "log"))
            self.saved = {name: tensor.values() for name, tensor in
                          safetensors.read(os.path.join(folder, "saved")).items()}

    def facts(self):
        """What is the same on every device; a loss that is not finite has no value there."""
        keys = ("step", "lr", "loss_scale", "skipped_steps", "not_finite", "tokens")
        return (self.code, re.sub(r"loss [\d.e+]+", "loss", self.said),
                [[row.get(key) for key in keys] + [row["grad_norm"] is None] for row in self.rows])

    def bits(self):
        return [(row["loss"], row["grad_norm"]) for row in self.rows], self.saved


def check_end(tester, dtype, expected, bundle, options, says, graphs_of_steps, ahead):
    """A device that leaves updates out by itself, in graphs, whose results are read a step late,
    and one whose host decides. Each step is several graphs."""
    said = os.path.join(tester.folder, "said-of-end")
    gpu = {"LD_LIBRARY_PATH": tester.stand_ins, "MTC_STANDIN_ALLOW": "duplicate_gpu",
           "MTC_STANDIN_REPORT": said}
    graphs = End(tester, bundle, *options, MTC_STANDIN_SEED="1", MTC_STANDIN_GRAPHS="1",
                 MTC_CUDA_GRAPH_NODES=str(MOST_NODES), **gpu)
    name = f"{dtype} {' '.join(options)}"
    expect_parts(tester, name, said, graphs_of_steps, ahead)
    single = End(tester, bundle, *options, "--no-graph", MTC_STANDIN_SEED="2", **gpu)
    tester.report.expect(expected.said.startswith(says) and bool(says) == bool(expected.said),
                         f"{name}: expected to be told '{says}', found '{expected.said}'")
    for end in (graphs, single):
        tester.report.expect(end.facts() == expected.facts(), f"{name}: expected what is on a CPU, "
                             f"{expected.facts()}, found {end.facts()}")
    tester.report.expect(graphs.bits() == single.bits(),
                         f"{name}: expected the bits of launches one by one and their parameters")
    tester.report.expect(not os.path.exists(said), f"{name}: the stand-ins say something")


def expect_parts(tester, name, said, graphs, ahead):
    """So many graphs of steps, each in as many parts, all but the first of which are launched
    before the host knows the end of the one before."""
    with open(said) as file:
        text = file.read()
    os.remove(said)
    lines = [re.fullmatch(LAUNCHED % ((r"\d+",) * 3), line) for line in text.splitlines(True)]
    tester.report.expect(len(lines) == 2 and all(lines), f"{name}: the stand-ins say: {text}")
    for line in filter(None, lines):
        launched, nodes, early = (int(line[part]) for part in ("graphs", "nodes", "ahead"))
        parts = launched // graphs
        tester.report.expect(launched == parts * graphs and parts > 2 and nodes > (parts - 1) * graphs * MOST_NODES
                             and early == ahead + (parts - 1) * graphs,
                             f"{name}: expected {graphs} steps of several graphs of {MOST_NODES} nodes or a little "
                             f"more, {ahead} of them ahead, found {line[0]}")


def check_resume(tester, bundle, straight):
    """A run that saves beside training, and one that goes on from its first step."""
    saved = os.path.join(tester.folder, "saved")
    again = tester.on_gpu(bundle, "saving", 1, "--checkpoints", saved, "--save-interval", "1",
                          "--async-save", "--timing-log-level", "1")
    tester.report.expect(again == straight, "a run that saves: expected the bits of one without")
    subprocess.run(["rm", "-rf", checkpoints.of_step(saved, STEPS)], check=True)
    later = tester.on_gpu(bundle, "resumed", 2, "--checkpoints", saved, "--resume", what=f"grads@{STEPS}")
    tester.report.expect([part[-1] for part in later[:2]] == [part[-1] for part in straight[:2]],
                         "a run that goes on: expected the numbers of one that was not stopped")


def check_death(tester):
    """Ranks that wait on their GPU for one that was killed end, and know its name: in calls of
    several communicators, of which none can be freed while another hangs."""
    bundle = tester.compile("f32", Layout(tp=2, dp=2), *TARGET, spec=tiny_spec(tester))
    log, records = (os.path.join(tester.folder, name) for name in ("death", "records"))
    with alone(bundle):
        job = subprocess.Popen(
            [tester.mtc.program, "run", bundle, "--quiet", "--data", tester.data, "--data-type", "u8",
             "--steps", "1000000", "--log", log, "--flight", records], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ, LD_LIBRARY_PATH=tester.stand_ins, MTC_STANDIN_ALLOW="duplicate_gpu"))
        end = time.monotonic() + 60
        while time.monotonic() < end and steps_so_far(log) < 2:
            time.sleep(0.05)
        with open(f"/proc/{job.pid}/task/{job.pid}/children") as file:
            ranks = file.read().split()
        os.kill(int(ranks[1]), signal.SIGKILL)
        _, said = job.communicate(timeout=60)
    tester.report.expect(len(ranks) == 4 and job.returncode == PEER_DIED
                         and "rank 1: killed by signal 9" in said,
                         f"rank 1 is killed: {job.returncode}, {said}")
    # Who hears of it from nobody, or does not get away from NCCL, is killed by the launcher.
    for rank in (0, 2, 3):
        tester.report.expect(f"[rank {rank}] error:" in said,
                             f"rank 1 is killed, rank {rank} says nothing: {said}")
    found = json.loads(tester.mtc.call("flight", records, "--json").stdout)
    tester.report.expect(found["culprit"] == 1, f"mtc flight blames {found['culprit']}")
    with alone(bundle):
        check_fault(tester, bundle)


def check_fault(tester, bundle):
    """A GPU that fails while it runs is named with the driver's error, and the run may start again."""
    saved = os.path.join(tester.folder, "faults")
    done = [subprocess.run(
        [tester.mtc.program, "run", bundle, "--quiet", "--data", tester.data, "--data-type", "u8", "--steps", "8",
         "--checkpoints", saved, "--save-interval", "1", *restarts], capture_output=True, text=True, timeout=120,
        env=dict(os.environ, LD_LIBRARY_PATH=tester.stand_ins, MTC_STANDIN_ALLOW="duplicate_gpu", MTC_STANDIN_FAULT="2:3"))
        for restarts in ([], ["--resume", "--max-restarts", "9"])]
    tester.report.expect(done[0].returncode == GPU_FAILED and "error: rank 2:" in done[0].stderr
                         and "CUDA_ERROR_ECC_UNCORRECTABLE" in done[0].stderr,
                         f"a GPU fails: {done[0].returncode}, {done[0].stderr}")
    tester.report.expect(done[1].returncode == 0, f"a GPU fails again and again: {done[1].returncode}, {done[1].stderr}")


def check_what_is_missing(tester):
    """A machine without a GPU's libraries says which; so does who asks for other products."""
    # Threads of a CPU are nothing to a GPU, and nobody is told to have fewer.
    bundle = tester.compile("bf16", Layout(dp=2), *TARGET, "--threads", str(os.cpu_count() + 1))
    names = driver, blas, nccl = "libcuda.so.1", "libcublasLt.so.13", "libnccl.so.2"
    for missing, environment, code, words in (
            ([driver], {}, INFEASIBLE, f"expected the driver's {driver}"),
            ([blas], {}, INFEASIBLE, f"expected cuBLASLt, which products on a GPU need, as {blas}"),
            ([nccl], {}, INFEASIBLE, f"expected NCCL, by which GPUs exchange, as {nccl}"),
            ([], {}, COMMUNICATION, "NCCL needs a GPU for each rank"),
            ([], {"MTC_CUDA_GEMM": "other"}, USAGE, "MTC_CUDA_GEMM: expected cublaslt or own"),
            ([], {"MTC_CUDA_GRAPH_NODES": "0"}, USAGE, "MTC_CUDA_GRAPH_NODES: expected a number of nodes from 1, found '0'"),
            ([], {"MTC_DEVICE": "cpu"}, USAGE, "MTC_DEVICE: expected none for a program of a GPU")):
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                if name in missing:  # no library, whatever this machine has
                    open(os.path.join(folder, name), "w").close()
                else:
                    os.symlink(os.path.join(tester.stand_ins, name), os.path.join(folder, name))
            with alone(bundle):
                done = subprocess.run([tester.mtc.program, "run", bundle, "--quiet", "--data",
                                       tester.data, "--data-type", "u8", "--steps", "1"],
                                      capture_output=True, text=True, timeout=60,
                                      env=dict(os.environ, LD_LIBRARY_PATH=folder, **environment))
        tester.report.expect(done.returncode == code and words in done.stderr,
                             f"without {missing}, {environment}: expected exit {code} and "
                             f"'{words}', found {done.returncode}: {done.stderr}")
    with alone(bundle):
        check_devices(tester, bundle)
    bundle = tester.compile("bf16", ALONE)
    for options in (["--comm", "nccl"], ["--device", 0]):
        done = tester.mtc.call("run", bundle, "--data", tester.data, "--data-type", "u8",
                               "--steps", 1, *options, check=False)
        tester.report.expect(
            done.returncode == USAGE and "expected a bundle for GPUs" in done.stderr,
            f"{options} of a bundle for the CPU: {done.returncode}, {done.stderr}")


def check_devices(tester, bundle):
    """Two ranks, and the one GPU of the stand-in, by its number; several: test_devices.py."""
    data = ["--data", tester.data, "--data-type", "u8", "--steps", 1]
    environment = dict(os.environ, LD_LIBRARY_PATH=tester.stand_ins)
    for options, code, words in (
            ([0], USAGE, "--device 0: expected a GPU for each of 2 ranks"),
            ([1, "--comm", "shm"], INFEASIBLE, "--device 1: expected one of the 1 that the driver "
             "shows, 0 to 0"),
            ([0, "--comm", "shm"], 0, "")):
        done = subprocess.run([tester.mtc.program, "run", bundle, "--quiet",
                               *map(str, [*data, "--device", *options])], capture_output=True,
                              text=True, timeout=60, env=environment)
        tester.report.expect(done.returncode == code and words in done.stderr,
                             f"--device {options}: expected exit {code} and '{words}', found "
                             f"{done.returncode}: {done.stderr}")
    script = os.path.join(HERE, "..", "..", "..", "tools", "with-stand-ins")
    done = subprocess.run([script, tester.mtc.program, "run", bundle, *map(str, data)],
                          capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, MTC_STANDIN_FOLDER=tester.stand_ins))
    tester.report.expect(done.returncode == 0 and re.fullmatch(r"step 1/1 .*\n", done.stderr),
                         f"with-stand-ins: {done.returncode}, {done.stderr}")
    if "--no-mpich" in sys.argv:
        return print("without MPICH: no ranks that are started by hand", flush=True)
    also = dict.fromkeys(range(2), {"LD_LIBRARY_PATH": tester.stand_ins})
    for job, code, words in (
            (ByHand, COMMUNICATION, "NCCL needs a GPU for each rank"),
            (EachItsOwn, INFEASIBLE, "--device 1: expected one of the 1 that the driver shows")):
        ends = job(tester.mtc, bundle, 2, [*data, "--device", 0], also=also).ends()
        tester.report.expect(ends[1][0] == code and words in ends[1][1] and ends[0][0] != 0,
                             f"two processes, {job.__name__}: {ends}")


class EachItsOwn(ByHand):
    """The GPU of its number for each rank."""

    def start(self, rank, ranks, *more):
        self.arguments[-1] = str(rank)
        return super().start(rank, ranks, *more)


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        check_what_is_missing(tester)
        check_small(tester)
        for dtype, layout in MORE if "--all" in sys.argv else []:
            check_layout(tester, dtype, layout)
        model = [] if "--all" in sys.argv else SHALLOW
        for dtype, layout in CASES:
            bundle, found = check_layout(tester, dtype, layout, model)
        check_own_products(tester, dtype, layout, model, bundle, found)
    return report.finish("programs for a GPU under stand-ins")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
