#!/usr/bin/env python3
"""Condenses the instruction probe's results into instr/instr.jsonl:

    python3 condense_instr.py variants.json instr.json instr.bin

variants.json has the variants as the probe's generator made them.
"""

import base64
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
SAMPLES = 48
# Where a table of results is wanted and not only whether they are equal.
MORE = {"approx": 192, "hw": 96, "undef": 16}


def fnv(data):
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{digest:016x}"


def token(operand, kind):
    per = f"*{operand['per']}" if operand["per"] > 1 else ""
    return f"{'!' if operand['manual'] else ''}{kind}{per}/{operand['reg']}"


def sample(data, count, bits, number):
    """Evenly spread elements, little-endian in base64; predicates as a string of 0 and 1."""
    number = min(number, count)
    where = [k * count // number for k in range(number)]
    if bits == 1:
        return "".join(str(data[i // 8] >> i % 8 & 1) for i in where)
    size = bits // 8
    return base64.b64encode(b"".join(data[i * size:(i + 1) * size] for i in where)).decode()


def main():
    variants = json.load(open(sys.argv[1]))
    results = {k["name"]: k for k in json.load(open(sys.argv[2]))["kernels"]}
    blob = open(sys.argv[3], "rb").read()
    lines, left = [], []
    for v in variants:
        result = results[v["name"]]
        if result["status"] != "ok":
            left.append(v["name"])
            continue
        row = {"name": v["name"], "module": v["module"], "version": v["version"], "class": v["cls"], "n": v["n"],
               "seed": v["seed"], "ins": [token(i, i["kind"]) for i in v["ins"]], "outs": [token(o, "out") for o in v["outs"]]}
        if v["by_grid"]:
            row["by_grid"] = True
        if v["block"] != [128, 1, 1] or v["by_grid"]:
            row["grid"], row["block"] = v["grid"], v["block"]
        for key in ("decl", "extra"):
            if v[key]:
                row[key] = v[key]
        row["body"] = v["body"]
        row["fnv"], row["sample"] = [], []
        for place, out in zip(result["out"], v["outs"]):
            data = blob[place["offset"]:place["offset"] + place["bytes"]]
            bits = 1 if out["reg"] == "pred" else out["bits"]
            assert fnv(data) == place["fnv"], v["name"]
            row["fnv"].append(place["fnv"])
            row["sample"].append(sample(data, v["n"] * out["per"], bits, MORE.get(v["cls"], SAMPLES)))
        lines.append(json.dumps(row, separators=(",", ":")))
    (HERE / "instr" / "instr.jsonl").write_text("\n".join(lines) + "\n")
    print(len(lines), "variants; left out:", *left)


if __name__ == "__main__":
    main()
