#!/usr/bin/env python3
"""mtc explain: its answers against reports, descriptors and closed forms.

usage: test_explain.py BIN_DIR
"""

import itertools
import json
import math
import os
import sys
import tempfile
import xml.etree.ElementTree as xml

from run_layout import Mtc, Report
from small_spec import small_spec

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../models/specs/gpt2-nano.toml")
COMMON = ("gpt2-nano", "--gbs", 16, "--isa", "x86-64-v3")
LAYERS, STAGES, MICROBATCHES = 4, 2, 4
BUNDLES = {"zero": ("--tp", 2, "--pp", 2, "--dp", 2, "--mbs", 2, "--zero", 1),
           "zero2": ("--tp", 2, "--pp", 2, "--dp", 2, "--mbs", 2, "--zero", 2),
           "whole": ("--tp", 2, "--pp", 2, "--dp", 2, "--mbs", 2),
           "bf16": ("--tp", 2, "--cp", 2, "--pp", 2, "--dp", 2, "--mbs", 2, "--zero", 1,
                    "--dtype", "bf16", "--isa", "x86-64-v4"),
           "chunks": ("--tp", 2, "--pp", 2, "--mbs", 2, "--chunks", 2, "--schedule",
                      "interleaved-1f1b")}
SVG = "{http://www.w3.org/2000/svg}"


def explain(mtc, bundle, *question):
    return json.loads(mtc.call("explain", bundle, *question, "--json").stdout)


def read(bundle, name):
    with open(os.path.join(bundle, name)) as file:
        return json.load(file)


def check_parameter(mtc, bundle, descriptor, parameter):
    """Parts of a split dimension cover it; states of replicas cover the part of a rank, each
    element once where the optimizer is split, and lie inside of their arena."""
    name, mesh = parameter["name"], descriptor["mesh"]
    copies = [copy for copy in explain(mtc, bundle, "--parameter", name)["copies"]
              if copy["stage"] == descriptor["stage"]]
    if len(copies) != 1:
        yield f"{name}: expected one copy in the stage, found {len(copies)}"
        return
    copy = copies[0]
    per_stage = mesh["tp"] * mesh["cp"] * mesh["dp"]
    ranks = range(descriptor["stage"] * per_stage, (descriptor["stage"] + 1) * per_stage)
    if [rank["rank"] for rank in copy["ranks"]] != list(ranks):
        yield f"{name}: expected ranks {ranks}, found {[r['rank'] for r in copy['ranks']]}"
    bucket = descriptor["buckets"][copy["bucket"]]
    zero, sharded = bucket.get("zero", False), "sharded_gradients" in bucket
    elements = 1
    for size in copy["of_a_rank"]:
        elements *= size
    for tp in range(mesh["tp"]):
        of_tp = [rank for rank in copy["ranks"] if rank["at"]["tp"] == tp]
        owned = sorted(rank["optimizer"]["elements"] for rank in of_tp)
        counts = [last - first for first, last in owned]
        if sum(counts) != elements * mesh["cp"] * (1 if zero else mesh["dp"]):
            yield f"{name}: states of {owned} do not cover {elements} elements"
        added = sorted(rank["gradient"]["elements"] for rank in of_tp)
        if sum(last - first for first, last in added) != elements * mesh["cp"] * (1 if sharded else mesh["dp"]):
            yield f"{name}: gradients of {added} do not cover {elements} elements"
        split = copy["split"]
        for dim, (first, last) in enumerate(of_tp[0]["indices"]):
            part = copy["of_a_rank"][dim]
            wanted = tp * part if split and split["dim"] == dim else 0
            if (first, last) != (wanted, wanted + part):
                yield f"{name}: tp {tp}: dimension {dim}: found {first}:{last}"
    grads, arena = descriptor["arenas"][1:3]  # gradients, optimizer: the second and third
    for rank in copy["ranks"]:
        first, last = rank["gradient"]["elements"]
        offset = rank["gradient"]["offset"]
        # A shard begins where the rank's part of the bucket does.
        start = rank["at"]["dp"] * bucket["shard_elements"] if sharded else 0
        wanted = bucket["grad_offset"] + 4 * (copy["start"] + first - start) if first < last else None
        if offset != wanted or first < last and not 0 <= offset <= grads - 4 * (last - first):
            yield f"{name}: gradients at {offset} of {grads}, expected {wanted}"
        first, last = rank["optimizer"]["elements"]
        for state, offset in rank["optimizer"]["offsets"].items():
            if not 0 <= offset <= arena - 4 * (last - first):
                yield f"{name}: {state} at {offset} of {arena}"


def check_parameters(mtc, name, bundle):
    for stage in range(STAGES):
        program = os.path.join(bundle, f"programs/stage{stage}")
        descriptor = json.loads(mtc.call("inspect", program, "--json").stdout)
        # One of each kind: others differ in the number of their layer.
        kinds = {p["name"].split(".", 2)[-1]: p for p in descriptor["params"]}
        for parameter in kinds.values():
            yield from (f"{name}: {wrong}" for wrong in
                        check_parameter(mtc, bundle, descriptor, parameter))


def check_collectives(mtc, name, bundle):
    """Calls and bytes add up to those of the report; there are as many f and g as Megatron's
    rules have; a number gives the one of the list."""
    found = explain(mtc, bundle, "--collective")["collectives"]
    for stage in read(bundle, "report.json")["stages"]:
        mine = [c for c in found if c["stage"] == stage["stage"]]
        for group in {*stage["collectives"], *(c["group"] for c in mine)}:
            of_group = [c for c in mine if c["group"] == group]
            totals = {"calls": sum(c["times"] for c in of_group),
                      "bytes": sum(c["times"] * c["bytes"] for c in of_group)}
            wanted = {key: stage["collectives"].get(group, {}).get(key) for key in totals}
            if totals != wanted:
                yield f"{name}: stage {stage['stage']}, {group}: expected {wanted}, found {totals}"
        layers = [c for c in mine if c["part"].startswith("layers.")]
        microbatches = MICROBATCHES * (2 if name == "chunks" else 1)  # dp 1: twice as many
        for origin in "gf":
            times = sum(c["times"] for c in layers if c["origin"] == origin)
            wanted = 2 * LAYERS // STAGES * microbatches
            if times != wanted:
                yield f"{name}: stage {stage['stage']}: expected {wanted} of {origin}, found {times}"
    if [c["number"] for c in found] != list(range(len(found))):
        yield f"{name}: expected numbers from 0"
    if not all(c["why"] for c in found):
        yield f"{name}: expected a reason of each, found {[c for c in found if not c['why']]}"
    if explain(mtc, bundle, "--collective", 3)["collectives"] != [found[3]]:
        yield f"{name}: expected number 3 of the list"
    of_tp = explain(mtc, bundle, "--collective", "tp")["collectives"]
    if of_tp != [c for c in found if c["group"] == "tp"]:
        yield f"{name}: expected those of tp"


def check_buckets(mtc, name, bundle):
    """Each collective of gradients and parameters names its bucket, those of values none. Sums
    over replicas are of whole buckets, with ZeRO what follows them of shards: sums over cp, and
    gathers; the table that both ends share is summed between them; under ZeRO-2 a sum is behind each microbatch."""
    found = explain(mtc, bundle, "--collective")["collectives"]
    for stage in range(STAGES):
        program = os.path.join(bundle, f"programs/stage{stage}")
        descriptor = json.loads(mtc.call("inspect", program, "--json").stdout)
        held = {}  # names and elements of a rank, by bucket
        for p in descriptor["params"]:
            names, sizes = held.setdefault(p["bucket"], ([], []))
            names.append(p["name"])
            sizes.append(math.prod(p["local_shape"]))
        zero = {"zero": 1, "zero2": 2, "bf16": 1}.get(name, 0)
        width = 2 if name == "bf16" else 4
        # Elements; where replicas have shards, buckets end at a multiple of 128.
        pad = 128 if zero else 1
        whole = {b: -(-sum(sizes) // pad) * pad for b, (_, sizes) in held.items()}
        tables = [b for b, (names, _) in held.items() if "embed.tokens" in names]
        share = 2 if zero else 1
        wanted = [("reduce_scatter" if zero else "all_reduce", "dp", "gradient", b,
                   4 * elements, MICROBATCHES if zero == 2 else 1) for b, elements in whole.items()]
        wanted += [("all_reduce", "cp", "gradient", b, 4 * elements // share, 1)
                   for b, elements in whole.items() if descriptor["mesh"]["cp"] > 1]
        wanted += [("all_reduce", "embedding", "embedding", b, 4 * whole[b] // share, 1)
                   for b in tables]
        wanted += [("all_gather", "dp", "zero1", b, width * elements, 1)
                   for b, elements in whole.items() if zero]
        mine = [c for c in found if c["stage"] == stage and c["bucket"] is not None]
        have = [(c["kind"], c["group"], c["origin"], c["bucket"], c["bytes"], c["times"])
                for c in mine]
        if sorted(have) != sorted(wanted):
            yield f"{name}: stage {stage}: expected {sorted(wanted)}, found {sorted(have)}"
        for c in mine:
            if sorted(p["name"] for p in c["parameters"]) != sorted(held[c["bucket"]][0]):
                yield f"{name}: stage {stage}: number {c['number']} has {c['parameters']}"


def check_gradients(mtc, name, bundle):
    """Each parameter is in one reduction over replicas per use of it."""
    found = explain(mtc, bundle, "--collective", "dp")["collectives"]
    for stage in range(STAGES):
        reduced = [p["name"] for c in found if c["stage"] == stage and c["origin"] == "gradient"
                   for p in c["parameters"]]
        program = os.path.join(bundle, f"programs/stage{stage}")
        params = json.loads(mtc.call("inspect", program, "--json").stdout)["params"]
        if not {p["name"] for p in params} <= set(reduced):
            yield f"{name}: stage {stage}: expected all parameters, found {reduced}"
        for parameter in reduced:
            if reduced.count(parameter) > 2:
                yield f"{name}: {parameter} is reduced {reduced.count(parameter)} times"


def check_memory(mtc, name, bundle):
    for stage in read(bundle, "report.json")["stages"]:
        ranks = read(bundle, "report.json")["ranks"]
        rank = stage["stage"] * ranks // STAGES
        found = explain(mtc, bundle, "--rank", rank)
        if found["reserved"] != stage["memory"]:
            yield f"{name}: expected {stage['memory']}, found {found['reserved']}"
        peak, rows = found["peak"], found["rows"]
        if sum(value["bytes"] for value in peak["live"]) != peak["bytes"]:
            yield f"{name}: what lives does not add up to {peak['bytes']}"
        most = max(slots + work for slots, work in zip(rows["slots"], rows["workspace"]))
        if most + found["fixed_bytes"] != peak["bytes"]:
            yield f"{name}: expected a peak of {most + found['fixed_bytes']}, found {peak['bytes']}"
        memory = stage["memory"]
        if max(rows["slots"]) > memory["activations"] or max(rows["workspace"]) > memory["workspace"]:
            yield f"{name}: more lives than is reserved"
        # Planned memory is tight: every slot is used at some time, by pages.
        if max(rows["workspace"]) < memory["workspace"] // 2:
            yield f"{name}: expected more in {memory['workspace']} bytes of workspace"
        saved = {value["where"] for value in peak["live"] if value["where"].startswith("saved ")}
        if name != "chunks" and len(saved) != STAGES - stage["stage"]:
            yield f"{name}: 1f1b holds {STAGES - stage['stage']} microbatches, found {saved}"


# The line of the spec that has a part of the model, by what is in the part's name.
LINES = (("embed.tokens", "vocab ="), ("embed.positions", "positions ="), ("norm", "[norm]"),
         (".attn.", "[attention]"), (".mlp.", "[mlp]"))


def line_of(part):
    """file:line, read off the spec's text."""
    words = next(words for known, words in LINES if known in part)
    with open(SPEC) as file:
        number = next(i for i, line in enumerate(file, 1) if line.startswith(words))
    return f"{os.path.basename(SPEC)}:{number}"


# With sequence parallelism: kind, origin and the op that made the value, and words of the reason.
REASONS = {("all_gather", "g", "tfm.norm"): "parts of each sequence",
           ("all_gather", "f", "tfm.restore"): "gathered again rather than saved",
           ("reduce_scatter", "g", None): "a product was split along its sum",
           ("reduce_scatter", "f", None): "counterpart of a gather"}


def check_reasons(mtc, folder):
    """Where sequences are split each collective has the reason of its kind; gradients and
    parameters, in buckets, have the line of the spec that each of theirs comes from."""
    bundle = os.path.join(folder, "split")
    mtc.call("compile", *COMMON, "--tp", 2, "--sp", "--pp", 2, "--dp", 2, "--mbs", 2, "--zero", 1,
             "-o", bundle)
    found = explain(mtc, bundle, "--collective")["collectives"]
    for (kind, origin, maker), words in REASONS.items():
        of_layers = [c for c in found if (c["kind"], c["origin"]) == (kind, origin)
                     and c["part"].startswith("layers.") and maker in (None, c["serves"])]
        wrong = [c for c in of_layers if words not in c["why"]]
        if not of_layers or wrong:
            yield f"{kind} of {origin}: expected some, all with {words!r}, found {wrong}"
    for c in found:
        for p in c["parameters"]:
            if p["spec"] != line_of(p["name"]):
                yield f"{p['name']}: expected {line_of(p['name'])}, found {p['spec']}"
        if c["bucket"] is not None and not c["parameters"]:
            yield f"number {c['number']}: expected the parameters of its bucket"
    number = next(c["number"] for c in found if c["origin"] == "embedding" and c["bucket"] is not None)
    text = mtc.call("explain", bundle, "--collective", number).stdout
    if f"  embed.tokens  {line_of('embed.tokens')}" not in text:
        yield f"number {number}: expected the table's line, found {text}"


def check_pictures(mtc, folder, bundle):
    picture = os.path.join(folder, "memory.svg")
    text = mtc.call("explain", bundle, "--rank", 0, "--svg", picture).stdout
    for words in ("rank 0, stage 0: ", "most lives in row ", "all the time, o slots, # workspace"):
        if words not in text:
            yield f"expected {words!r}, found\n{text}"
    bars = list(xml.parse(picture).iter(SVG + "rect"))
    rows = len(explain(mtc, bundle, "--rank", 0)["rows"]["slots"])
    if len(bars) < rows:
        yield f"expected a bar for each of {rows} rows, found {len(bars)}"
    heights = {}
    for bar in bars:
        heights[bar.get("x")] = heights.get(bar.get("x"), 0) + float(bar.get("height"))
    # The highest column is the whole height, 240 units, up to two decimals of each part.
    if abs(max(heights.values()) - 240) > 0.05:
        yield f"expected the highest column to be 240, found {max(heights.values())}"


def check_text(mtc, bundle):
    for question, words in (
            ((), ("ask", "--parameter NAME", "stage 1: ")),
            (("--parameter", "layers.0.mlp.up.weight"),
             ("split on 1 by tp", "rank 3", "exp_avg at ")),
            (("--collective",), ("stage 0: number", "layers.0.mlp.down", "bucket 0")),
            (("--collective", 0), ("why: ", "spec: gpt2-nano.toml:"))):
        text = mtc.call("explain", bundle, *question).stdout
        for word in words:
            if word not in text:
                yield f"{question}: expected {word!r}, found\n{text[:2000]}"


def check_slices(mtc, folder):
    """A fused projection whose key heads ranks share: three slices, by its name and theirs."""
    spec, bundle = os.path.join(folder, "fused.toml"), os.path.join(folder, "fused")
    with open(spec, "w") as file:
        file.write(small_spec(True, 0.0, name="fused", vocab=60, padded=64, layers=2, hidden=32,
                              heads=4, kv_heads=2, ffn=32, longest=16, norm="layer_norm",
                              qkv="fused"))
    for tp, folder_of in ((4, bundle), (1, bundle + "1")):
        mtc.call("compile", spec, "--tp", tp, "--gbs", 1, "-o", folder_of)
    tensor = "layers.0.attn.qkv.weight"
    copies = explain(mtc, bundle, "--parameter", tensor)["copies"]
    found = {copy["name"]: (copy["shape"], copy["of_a_rank"], copy["slice"]) for copy in copies}
    wanted = {f"layers.0.attn.{part}.weight":
              (shape, own, {"of": tensor, "dim": 2, "indices": indices})
              for part, shape, own, indices in (("q", [32, 4, 8], [32, 1, 8], [0, 2]),
                                                ("k", [32, 2, 8], [32, 1, 8], [2, 3]),
                                                ("v", [32, 2, 8], [32, 1, 8], [3, 4]))}
    if found != wanted:
        yield f"{tensor}: expected {wanted}, found {found}"
    keys = explain(mtc, bundle, "--parameter", "layers.0.attn.k.weight")["copies"]
    if keys != [copy for copy in copies if ".k." in copy["name"]]:
        yield f"expected the slice of keys, found {keys}"
    for text in (mtc.call("explain", bundle, "--parameter", tensor).stdout,
                 mtc.call("inspect", os.path.join(bundle, "programs/stage0")).stdout):
        for name, (_, _, slice_of) in wanted.items():
            line = next((line for line in text.splitlines() if name in line), "")
            words = "indices {}:{} of dimension 2 of {}".format(*slice_of["indices"], tensor)
            if words not in line:
                yield f"{name}: expected {words!r}, found {line!r}"
    rows = mtc.call("diff", bundle + "1", bundle, check=False).stdout.splitlines()
    rows = [row for row in rows if "layers.{0-1}.attn.k.weight" in row]
    if len(rows) != 1 or "indices 2:3 of dimension 2" not in rows[0]:
        yield f"expected a row for the keys of all layers, found {rows}"


def check_halves(mtc, folder):
    """A stage that counts slots of a pool of which it has no bytes."""
    bundle = os.path.join(folder, "halves")
    ended = mtc.call("compile", *COMMON, "--pp", 3, "--schedule", "zb-h1", "--stages", "1,2,1",
                     "-o", bundle, check=False)
    if ended.returncode != 0:
        yield f"halves of backwards on three stages: {ended.stderr}"
        return
    for rank in range(3):
        text = mtc.call("explain", bundle, "--rank", rank).stdout
        if "most lives in row" not in text:
            yield f"rank {rank} of three stages: expected its peak, found {text}"


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for name, options in BUNDLES.items():
            bundle = os.path.join(folder, name)
            common = [word for word in COMMON]
            if "--isa" in options:
                common = common[:-2]
            ended = mtc.call("compile", *common, *options, "-o", bundle, check=False)
            if ended.returncode != 0 and name == "bf16":
                continue  # a machine without AVX-512
            report.expect(ended.returncode == 0, ended.stderr)
            checks = [check_parameters, check_collectives, check_memory]
            if name != "chunks":
                checks += [check_gradients, check_buckets]
            for check in checks:
                report.expect_none(check(mtc, name, bundle))
        zero = os.path.join(folder, "zero")
        report.expect_none(itertools.chain(check_pictures(mtc, folder, zero),
                                           check_text(mtc, zero),
                                           check_reasons(mtc, folder),
                                           check_slices(mtc, folder),
                                           check_halves(mtc, folder)))
    return report.finish(f"{len(BUNDLES)} bundles")


if __name__ == "__main__":
    sys.exit(main())
