#!/usr/bin/env python3
"""The PTX executor computes, of single instructions, the bits of an H100.

2,282 kernels, whose results a GPU gave (test/golden/cuda), run on the executor. All
bytes must be equal but of what is listed here, each with its reason.
"""

import base64
import collections
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

# Kernels whose bytes are equal.
EQUAL = 2104
# The executor does not know these and says so: nothing that mtc compiles has them.
REFUSED = [
    r"v(add|sub|avrg|abs|abs_?diff|min|max|set|mad|shl|shr)\w*",  # the video instructions
    r"cvt_\w*e[45]m[23]\w*", r"cvt_pack_\w+", r"mma_\w*e[45]m[23]\w*",  # 8-bit floats, packs
    r"mma_sync_aligned_(m8n8k16|m16n8k64|m16n8k256)_\w+", r"mma_sync_aligned_m16n8k(4|8|16)_\w*f64\w*",
    r"wmma_\w+", r"fma_rn_oob\w*", r"(atom|red)_(add_)?v[24]\w*", r"(rcp|rsqrt)_approx\w*_f64",
    r"(atom_(exch|cas)|ld_global|mov)_b128", r"call_\w+", r"mbarrier_\w+", r"p_applypriority\w+",
    r"ld_mmio\w+", r"x_fence_(proxy|mbarrier)\w*", r"x_griddepcontrol\w+", r"x_pmevent\w+", r"x_barrier_cluster\w+",
    r"imm_mov_expr", r"sreg_aggr_smem_size", r"p_discard\w+",
]
# Faults: the ISA leaves the value open, and a program that needs it is wrong.
FAULTS = [r"shfl_sync_\w+_(part|guard)", r"cp_async_\w+_big", r"sync_diverged"]
# ptxas makes one fma of them. Rules::refuseContractable refuses such text.
CONTRACTED = [r"contract_(?!rn)\w+"]
# Which NaN of two goes on depends on the order of a sum's operands, which ptxas may change.
NAN_ORDER = [r"contract_rn_f64"]
# Largest difference of approximations, in parts of the value (or of 1 below 1): the H100's own
# error by function (test/golden/cuda/README.md), twice, as the executor rounds to nearest.
# Sine and cosine are useless beyond 10^5, where half of the elements are.
APPROXIMATE = {"tanh_approx_f32": 2e-5, "sin": 2.0, "cos": 2.0, "ex2": 4e-7, "lg2": 4e-7}
BF16, F16, F32 = 2.0 ** -7, 2.0 ** -10, 5e-7
LEAST = {BF16: 2.0 ** -133, F16: 2.0 ** -24, F32: 2.0 ** -126}

KINDS = {"f32": ("<f", 4), "f64": ("<d", 8), "b16": ("<H", 2), "b32": ("<I", 4), "u32": ("<I", 4)}


def matches(patterns, name):
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def half(bits, brain):
    if brain:
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def numbers(data, register, name):
    """Elements as floats."""
    if register in ("f32", "f64"):
        code, width = KINDS[register]
        return [struct.unpack_from(code, data, at)[0] for at in range(0, len(data), width)]
    halves = struct.unpack(f"<{len(data) // 2}H", data)
    return [half(bits, "bf16" in name) for bits in halves]


def close(name, x, y):
    if name.startswith("div_approx") and (y == 0 or math.isnan(y)):
        return True  # of a divisor beyond 2^126 it is 0, and NaN of an infinity
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    if x == y:
        return True
    allowed = BF16 if "bf16" in name else F16 if "f16" in name else F32
    least = 2.0 ** -126 if "ftz" in name else LEAST[allowed]
    for part, bound in APPROXIMATE.items():
        if part in name and not re.search(r"f16", name):
            allowed = bound
    # Subnormal results may be flushed (div.full, ex2 and div.approx without .ftz).
    return abs(x - y) <= allowed * max(abs(x), abs(y), least / allowed,
                                       1.0 if re.match(r"(sin|cos|lg2)", name) else 0.0)


def sampled(row, output, data):
    """The sampled elements of the executor's bytes, and those of the GPU."""
    golden = base64.b64decode(row["sample"][output])
    token = row["outs"][output]
    register = token.split("/")[1]
    width = {"b16": 2, "f64": 8, "b64": 8}.get(register, 4)
    count = len(data) // width
    samples = len(golden) // width
    mine = b"".join(data[k * count // samples * width:][:width] for k in range(samples))
    return numbers(mine, register, row["name"]), numbers(golden, register, row["name"])


def sample_problems(run, folder, rows):
    """Of kernels whose bytes may differ: elements that differ by more than they may."""
    done = subprocess.run([run, folder, *(row["name"] for row in rows)], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, status, *outputs = line.split()
        row = next(row for row in rows if row["name"] == name)
        if status != "ran":
            yield f"{name}: {line[:300]}"
            continue
        for k, output in enumerate(outputs):
            mine, golden = sampled(row, k, bytes.fromhex(output.split(":")[1]))
            wrong = [(x, y) for x, y in zip(mine, golden) if not close(name, x, y)]
            if wrong:
                yield f"{name}: {len(wrong)} of {len(mine)} sampled elements differ, as {wrong[0][0]!r} and {wrong[0][1]!r}"


def judge(row, status, text, counts, sampled_rows):
    """A sentence if it may not be so."""
    name = row["name"]
    if status == "refused":
        counts["refused"] += 1
        return None if matches(REFUSED, name) else f"{name}: refused: {text[:300]}"
    if status == "fault":
        counts["faults"] += 1
        return None if matches(FAULTS, name) else f"{name}: {text[:300]}"
    if text.split() == row["fnv"]:
        counts["equal"] += 1
        return None
    if row["class"] == "approx":
        counts["approximations within their bounds"] += 1
        sampled_rows.append(row)
        return None
    counts["contracted, or another NaN"] += 1
    return None if matches(CONTRACTED + NAN_ORDER, name) else f"{name}: other bytes than the GPU's: {row['body'][:120]}"


def main():
    run, golden = sys.argv[1:3]
    script = os.path.join(golden, "kernels.py")
    with open(os.path.join(golden, "instr.jsonl")) as file:
        rows = {row["name"]: row for row in map(json.loads, file)}
    counts, problems, sampled_rows = collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", script, folder], check=True)
        done = subprocess.run([run, folder], capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        for line in lines:
            name, status, text = line.split(" ", 2)
            problems.append(judge(rows[name], status, text, counts, sampled_rows))
        problems.extend(sample_problems(run, folder, sampled_rows))
    if counts["equal"] < EQUAL:
        problems.append(f"expected the GPU's bytes of at least {EQUAL} kernels, found them of {counts['equal']}")
    if len(lines) != len(rows):
        problems.append(f"expected {len(rows)} results, found {len(lines)}")
    problems = [problem for problem in problems if problem]
    print("\n".join(problems))
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    if problems:
        sys.exit(f"{len(problems)} problems")


if __name__ == "__main__":
    main()
