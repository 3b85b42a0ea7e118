#!/usr/bin/env python3
"""What bundles for GPUs say of their kernels on paper, and mtc explain --kernels.

usage: test_roofline.py BIN_DIR

Closed forms here are of the model's sizes, and times are divided again by the figures
of the report's cards. Nothing is run, and no GPU or toolkit is needed.
"""

import json
import math
import os
import shutil
import sys
import tempfile

from digests_of import sign
from run_layout import Mtc, Report

GPU = ("--target", "cuda:sm_90")
L, H, S, V, HEADS, FFN = 4, 64, 32, 256, 4, 256  # gpt2-nano
GBS = 16
CARDS = ["A100", "H100", "H200", "B200"]


def close(a, b, bound=1e-12):
    return abs(a - b) <= bound * max(abs(a), abs(b))


def plan(mtc, folder, *options):
    """The report of a plan whose kernels are made, and nothing else."""
    place = tempfile.mkdtemp(dir=folder)
    out = os.path.join(place, "kernels")
    mtc.call("compile", *options, *GPU, "--compile-to", "kernels", "--jobs", 1, "-o", out)
    with open(os.path.join(out, "report.json")) as file:
        return json.load(file)


def sums(calls, what, *ops):
    return math.fsum(call[what] for call in calls if call["op"] in ops)


def model_flops(tokens):
    """Megatron-LM's formula, with attention in full: of a step."""
    return 72 * L * H * H * (1 + S / (6 * H) + V / (12 * H * L)) * tokens


def floor(call, card):
    """Seconds of a call, and their kind."""
    tensor = call["unit"] == "tensor cores"
    times = {"memory": call["bytes"] / card["memory_bytes_per_second"],
             call["unit"]: call["flops"] / card["flops_16_bits" if tensor else "flops_fp32"],
             "link": call["link_bytes"] / card["link_bytes_per_second"]}
    return max(times.values()), times


def check_floors(name, report):
    """Numbers are finite and not negative, times follow from the cards, sums add up."""
    roofline = report["roofline"]
    if [card["card"] for card in roofline["cards"]] != CARDS:
        yield f"{name}: expected {CARDS}"
    for stage in roofline["stages"]:
        for total in ("flops", "bytes", "link_bytes"):
            if not close(math.fsum(call[total] for call in stage["calls"]), stage[total], 1e-9):
                yield f"{name}: {total} of stage {stage['stage']} do not add up"
        for call in stage["calls"]:
            numbers = [call[key] for key in ("calls", "flops", "bytes", "link_bytes")]
            if not all(math.isfinite(number) and number >= 0 for number in numbers) or call["calls"] < 1:
                yield f"{name}: {call['op']} {call['name']}: found {numbers}"
            works = call["flops"] + call["bytes"] + call["link_bytes"] > 0
            alone = call["op"] in ("norm", "collective") or (call["op"], call["link_bytes"]) == ("launch", 0)
            if not works and not alone:
                yield f"{name}: {call['op']} {call['name']} does nothing"
            if call["op"] in ("launch", "gemm", "attention", "zero") and call["bytes"] <= 0:
                yield f"{name}: {call['op']} {call['name']}: expected bytes"
            if (call["op"] == "launch") != bool(call.get("entries")):
                yield f"{name}: {call['op']} {call['name']}: entries are of launches"
    for card in roofline["cards"]:
        yield from check_card(name, report, card)


def check_card(name, report, card):
    name, roofline = f"{name} on {card['card']}", report["roofline"]
    busy = []
    for stage in roofline["stages"]:
        streams = {}
        for call in stage["calls"]:
            seconds, times = floor(call, card)
            found = call["floor"][card["card"]]
            if not close(found["seconds"], seconds) or not close(times[found["bound"]], seconds):
                yield f"{name}: {call['name']}: expected {times}, found {found}"
            streams.setdefault(call["stream"], []).append(seconds)
        busy.append(max(math.fsum(stream) for stream in streams.values()))
    if not close(max(busy), card["busy_seconds"], 1e-9) or busy[card["busiest_stage"]] < max(busy) * (1 - 1e-9):
        yield f"{name}: expected a stage to work {max(busy)} s, found {card['busy_seconds']}"
    if not card["busy_seconds"] <= card["step_seconds"] < math.inf or card["busy_seconds"] <= 0:
        yield f"{name}: found steps of {card['step_seconds']} s"
    peak = card["flops_fp32" if report["dtype"] == "f32" else "flops_16_bits"]
    mfu = roofline["model_flops"] / (card["step_seconds"] * peak * report["ranks"])
    if not close(mfu, card["mfu"], 1e-9):
        yield f"{name}: expected an MFU of {mfu}, found {card['mfu']}"
    times = [call["seconds"] for call in card["largest"]]
    calls = roofline["stages"][card["busiest_stage"]]["calls"]
    wanted = sorted((call["floor"][card["card"]]["seconds"] for call in calls), reverse=True)
    if times != [seconds for seconds in wanted[:10] if seconds > 0]:
        yield f"{name}: expected the ten largest, found {times}"
    for bound, seconds in card["bounds"].items():
        if not close(seconds, math.fsum(call["floor"][card["card"]]["seconds"] for call in calls
                                        if call["floor"][card["card"]]["bound"] == bound), 1e-9):
            yield f"{name}: what {bound} bounds does not add up"


def check_one_rank(mtc, folder):
    """gpt2-nano on a rank, nothing computed again: by the model's formula and by hand."""
    for dtype, width in (("bf16", 2), ("f32", 4)):
        report = plan(mtc, folder, "gpt2-nano", "--gbs", GBS, "--mbs", 4, "--dtype", dtype)
        yield from check_floors(f"nano in {dtype}", report)
        calls = report["roofline"]["stages"][0]["calls"]
        wanted, products = model_flops(GBS * S), sums(calls, "flops", "gemm")
        forward = math.fsum(call["unmasked_flops"] for call in calls
                            if call["op"] == "attention" and call["name"].startswith("forward"))
        if not close(report["roofline"]["model_flops"], wanted):
            yield f"model: expected {wanted}, found {report['roofline']['model_flops']}"
        if not close(products + 3 * forward, wanted):
            yield f"{dtype}: products of {products} and attention of {forward} are not {wanted}"
        attention = sums(calls, "flops", "attention")
        # 4 forward, 10 backward, half of the pairs.
        if attention != 14 * L * GBS * S * S * H / 2:
            yield f"{dtype}: expected 14 · heads and pairs, found {attention}"
        # The first product of a layer, with its bias: tokens of a microbatch, 3h, h; each operand once.
        m, n, k, times = 4 * S, 3 * H, H, L * GBS // 4
        row = [call for call in calls if call["op"] == "gemm"
               and call["name"] == f"{m}x{n}x{k} nn {dtype} bias"]
        found = [(call["calls"], call["flops"], call["bytes"], call["part"]) for call in row]
        if found != [(times, 2.0 * m * n * k * times, width * (m * k + k * n + n + m * n) * times,
                      "layers.*.attn.qkv")]:
            yield f"{dtype}: the product of q, k and v: found {found}"
        # Of each parameter the gradient is read; main one and two moments are read and
        # written in f32; bf16 is written beside that. A launch reads a few single numbers.
        update = [call for call in calls if call["op"] == "launch"
                  and call["part"].split(",")[0].endswith((".weight", ".bias", ".scale"))]
        moved, launches = sums(update, "bytes", "launch"), sum(call["calls"] for call in update)
        least = {"bf16": 30, "f32": 28}[dtype] * report["total_parameters"]
        if not least <= moved <= least + 64 * launches:
            yield f"{dtype}: expected an update to move {least} bytes, found {moved} in {launches}"


def check_layout(mtc, folder):
    """tp 2, pp 2, dp 2, ZeRO-1: all ranks together, and what goes over links."""
    layout = ("--tp", 2, "--pp", 2, "--dp", 2, "--zero", 1, "--mbs", 2)
    report = plan(mtc, folder, "gpt2-nano", "--gbs", GBS, *layout, "--dtype", "bf16")
    yield from check_floors("layout", report)
    stages = report["roofline"]["stages"]
    products = math.fsum(4 * sums(stage["calls"], "flops", "gemm") for stage in stages)
    forward = math.fsum(4 * call["unmasked_flops"] for stage in stages for call in stage["calls"]
                        if call["op"] == "attention" and call["name"].startswith("forward"))
    if not close(products + 3 * forward, model_flops(GBS * S)):
        yield f"layout: expected {model_flops(GBS * S)} of all ranks, found {products + 3 * forward}"
    for stage, said in zip(stages, report["stages"]):
        ring = 0
        for traffic in said["collectives"].values():
            members = report["ranks"] if traffic is said["collectives"].get("all") else 2
            for kind, part in traffic["kinds"].items():
                passes = 1 if kind in ("reduce_scatter", "all_gather") else 2
                ring += passes * part["bytes"] * (members - 1) / members
        found = sums(stage["calls"], "link_bytes", "collective")
        if not close(found, ring):
            yield f"stage {stage['stage']}: expected {ring} bytes by rings, found {found}"
        exchanged = sums(stage["calls"], "link_bytes", "exchange")
        # Each microbatch comes and goes once, which may be at the same time.
        if not said["sends"]["bytes"] <= exchanged <= 2 * said["sends"]["bytes"] or not exchanged:
            yield f"stage {stage['stage']}: {exchanged} bytes exchanged, {said['sends']} sent"
    card = report["roofline"]["cards"][1]
    if not card["step_seconds"] > 1.05 * card["busy_seconds"]:
        yield "layout: expected a pipeline of two stages to wait"
    again = plan(mtc, folder, "gpt2-nano", "--gbs", GBS, *layout, "--dtype", "bf16", "--recompute", "full")
    more = math.fsum(4 * sums(stage["calls"], "flops", "gemm") for stage in again["roofline"]["stages"])
    # Nobody reads the last product of a layer again, and the head is in no layer.
    spared = 2 * GBS * S * H * (V + L * FFN)
    if not close(more, products + (products / 3 - spared)):
        yield f"recomputation: expected the layers' forward once more, found {more} and {products}"


def check_explain(mtc, folder):
    bundle, cpu = os.path.join(folder, "bundle"), os.path.join(folder, "cpu")
    options = ("gpt2-nano", "--pp", 2, "--gbs", GBS)
    mtc.call("compile", *options, "--dtype", "bf16", *GPU, "-o", bundle)
    mtc.call("compile", *options, "-o", cpu)
    with open(os.path.join(bundle, "report.json")) as file:
        report = json.load(file)
    with open(os.path.join(cpu, "report.json")) as file:
        if "roofline" in json.load(file):
            yield "expected no roofline of a bundle for a CPU"
    with open(os.path.join(bundle, "report.txt")) as file:
        text = file.read()
    lines = text[text.index("least time"):].splitlines()
    if any(len(line) > 100 for line in lines) or len([line for line in lines if " x  " in line]) != 10:
        yield f"expected the ten largest in 100 columns, found {lines}"
    for number, card in enumerate(report["roofline"]["cards"]):
        found = json.loads(mtc.call("explain", bundle, "--kernels", card["card"], "--json").stdout)
        calls = report["roofline"]["stages"][card["busiest_stage"]]["calls"]
        wanted = sorted((call["floor"][card["card"]]["seconds"] for call in calls), reverse=True)
        if [call["seconds"] for call in found["calls"]] != wanted or found["mfu"] != card["mfu"]:
            yield f"explain of {card['card']}: expected the report's calls"
    own = json.loads(mtc.call("explain", bundle, "--kernels", "--stage", 0, "--registers", "--json").stdout)
    entries = [entry for call in own["calls"] for entry in call.get("entries", [])]
    known = own["registers"].startswith("by ptxas")
    print(f"registers: {own['registers']}")
    if own["card"] != "H100 SXM" or own["stage"] != 0 or not entries:
        yield f"expected entries of stage 0 on the H100, found {own['card']}, {len(entries)}"
    for entry in entries:
        if not 0 < entry["occupancy"] <= 1 or known != bool(entry["registers"]) or entry.get("spill_bytes"):
            yield f"found {entry}"
    for question in ((), ("--stage", 1), ("B200", "--registers")):
        text = mtc.call("explain", bundle, "--kernels", *question).stdout
        if any(len(line) > 100 for line in text.splitlines()) or "MFU at most" not in text:
            yield f"{question}: expected 100 columns, found\n{text}"
    home, path = os.environ.get("CUDA_HOME"), os.environ["PATH"]
    os.environ.update(CUDA_HOME=folder, PATH=folder)  # where there is no ptxas
    none = mtc.call("explain", bundle, "--kernels", "--registers").stdout
    os.environ.update(CUDA_HOME=home or "", PATH=path)
    if "unknown, ptxas of the CUDA toolkit is not here" not in none or "registers unknown, occupancy at most" not in none:
        yield f"expected unknown registers without ptxas, found\n{none}"
    old = mtc.call("explain", bundle, "--kernels", "A100", "--registers").stdout
    if "unknown, A100 SXM 80 GB is sm_80 and the bundle for a GPU of sm_90 or newer" not in old or "occupancy at most" not in old:
        yield f"expected unknown registers of an A100, found\n{old}"
    yield from check_refusals(mtc, folder, bundle, cpu)


def check_refusals(mtc, folder, bundle, cpu):
    for words, code, says in (
            ((bundle, "--kernels", "V100"), 2, "expected one of A100, H100, H200, B200"),
            ((bundle, "--kernels", "--stage", 2), 2, "--stage: expected one of 0 to 1, found 2"),
            ((bundle, "--stage", 0), 2, "--stage: expected --kernels with it"),
            ((bundle, "--registers"), 2, "--registers: expected --kernels with it"),
            ((cpu, "--kernels"), 2, "expected a bundle for GPUs")):
        done = mtc.call("explain", *words, check=False)
        if done.returncode != code or says not in done.stderr:
            yield f"{words}: expected exit {code} and {says!r}, found {done.returncode}: {done.stderr}"
    bad = os.path.join(folder, "bad")

    def edit(roofline):
        call = roofline["stages"][0]["calls"][0]
        call["floor"]["H100"]["seconds"] = -1
        call["name"] = "\x1b[2J"
        call["calls"] = "many"
        roofline["cards"][1]["mfu"] = -1

    for spoil, says in (
            (lambda report: edit(report["roofline"]),
             ("'seconds': expected at least 0", "'mfu': expected at least 0", "control characters", "'calls'")),
            (lambda report: report.pop("roofline"), ("expected the key 'roofline'",)),
            (lambda report: report["roofline"]["stages"].pop(), ("expected 2 stages, found 1",)),
            (lambda report: report["roofline"].update(cards=[]), ("with the name 'H100'",)),
            (lambda report: report.update(roofline=[]), ("roofline",))):
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(bundle, bad)
        path = os.path.join(bad, "report.json")
        with open(path) as file:
            report = json.load(file)
        spoil(report)
        with open(path, "w") as file:
            json.dump(report, file)
        sign(bad)
        done = mtc.call("explain", bad, "--kernels", "--stage", 0, check=False)
        if done.returncode != 3 or any(word not in done.stderr for word in says):
            yield f"expected exit 3 and {says}, found {done.returncode}: {done.stderr}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        report.expect_none(check_one_rank(mtc, folder))
        report.expect_none(check_layout(mtc, folder))
        report.expect_none(check_explain(mtc, folder))
    return report.finish("rooflines")


if __name__ == "__main__":
    sys.exit(main())
