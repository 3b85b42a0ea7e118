#!/usr/bin/env python3
"""Condenses what the cublasLt probe wrote into lt.json:

    python3 condense_lt.py lt.jsonl
"""

import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
STATUS = {0: "ok", 1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH",
          13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", -9: "not called"}
FAULT = {0: "ok", 716: "CUDA_ERROR_MISALIGNED_ADDRESS"}
COMPUTE = {"32F": "32F", "TF32": "32F_FAST_TF32", "PED": "32F_PEDANTIC"}
# Numbers of cublasComputeType_t that the probe names by their value.
BY_VALUE = {"comp64": "16F", "comp70": "64F", "comp74": "32F_FAST_16F", "comp75": "32F_FAST_16BF"}


def statuses(case):
    """Of the heuristic, of matmul with its first algorithm, with none, and of the stream."""
    return {"heuristic": STATUS[case["h"]], "matmul": STATUS[case["mm"]],
            "matmul without algorithm": STATUS[case["mmn"]], "stream": FAULT[case["sync"]]}


def types(case):
    b = f"*{case['b']}" if "b" in case else ""
    return f"{case['a']}{b}>{case['d']}"


def accept(cases):
    """Transpositions and epilogues with one status, as products of lists."""
    table = collections.defaultdict(dict)
    for case in cases:
        if case.get("g") == "matrix":
            beta = " beta" if case.get("v") else ""
            key = (types(case), COMPUTE[case["c"]])
            table[key].setdefault(case["e"], {})[case["t"] + beta] = STATUS[case["h"]]
    rows = collections.defaultdict(list)
    for (kind, compute), epilogues in table.items():
        for epilogue, forms in epilogues.items():
            by_status = collections.defaultdict(list)
            for form, status in sorted(forms.items()):
                by_status[status].append(form)
            rows[json.dumps(by_status), epilogue].append(f"{kind} {compute}")
    merged = collections.defaultdict(list)
    for (status, epilogue), kinds in rows.items():
        merged[status, tuple(kinds)].append(epilogue)
    return [{"types": list(kinds), "epilogues": epilogues, "transpositions": json.loads(status)}
            for (status, kinds), epilogues in merged.items()]


def others(cases):
    rows = []
    for case in cases:
        if case.get("g") not in (None, "matrix"):
            group = case["g"]
            rows.append({"what": f"compute {BY_VALUE[group]}" if group in BY_VALUE else group,
                         "value": case.get("v", "").strip(), "types": types(case), **statuses(case)})
    return grouped(rows, "types")


def grouped(rows, over):
    """Rows that differ only in `over` become one with a list."""
    merged = {}
    for row in rows:
        key = json.dumps({k: v for k, v in row.items() if k != over}, sort_keys=True)
        merged.setdefault(key, (row, []))[1].append(row[over])
    return [{**row, over: sorted(set(values))} for row, values in merged.values()]


def variations(cases, group):
    rows = [{"value": re.sub(r"cMode=1 |\.0+", "", c["v"]).strip(), "case": f"{types(c)} {c['t']} {c['e']}", **statuses(c)}
            for c in cases if c.get("g") == group and "ev" not in c]
    out = []
    for row in grouped(rows, "case"):
        fine = all(row[k] == "ok" for k in ("heuristic", "matmul", "matmul without algorithm", "stream"))
        out.append({"value": row["value"], "status": "ok" if fine else
                    {k: row[k] for k in ("heuristic", "matmul", "matmul without algorithm", "stream")},
                    "cases": len(row["case"]) if fine and len(row["case"]) > 8 else row["case"]})
    return out


def misuse(cases):
    out = {}
    for case in cases:
        if case["s"] != "misuse":
            continue
        if case.get("ev") == "died":
            out[case["case"]] = "SIGSEGV" if case.get("signal") == 11 else f"exit {case['exit']}"
        elif "g" in case:
            out[case["g"]] = {k: v for k, v in case.items() if k not in ("s", "i", "g", "sync") or (k == "sync" and v)}
    return out


def spread(values):
    low, high = min(values), max(values)
    return low if low == high else [low, high]


def raced(case):
    """The probe poisons and uploads in the legacy stream, which its own stream does not wait for: now and
    then the poison came after the product. Such a record differs everywhere, by NaN or by more than its size."""
    judged = [seen for what in ("out", "aux") for seen in case.get(what, {}).values()]
    outs = list(case.get("out", {}).values())
    return (any(count == case["M"] * case["N"] and error == 0 for count, error, _ in judged)
            or all(count == case["M"] * case["N"] and relative > 100 for count, _, relative in outs))


def rounding(cases):
    """Elements (of M*N, or of the bias gradient) that differ from each hypothesis, over algorithms."""
    table = {}
    for case in cases:
        if case["s"] != "round" or not any(k in case for k in ("out", "aux", "bgrad")):
            continue
        if case.get("out") and raced(case):
            table["dropped, the probe raced"] = table.get("dropped, the probe raced", 0) + 1
            continue
        key = " ".join([types(case), case["t"], case["e"], f"{case['M']}x{case['N']}x{case['K']}"]
                       + [f"{k}={case[k]:g}" for k in ("alpha", "beta") if k in case]
                       + [f"{k}:{case[k]}" for k in ("bt", "at", "c") if case.get(k) and case[k] != "32F"]
                       + (["C apart"] if case.get("cMode") == 1 else [])
                       + ([case["g"]] if "g" in case else []))
        entry = table.setdefault(key, {"algorithms": 0, "differ": {}})
        entry["algorithms"] += 1
        for what in ("out", "aux", "out_from_aux", "bgrad"):
            for name, seen in case.get(what, {}).items():
                entry["differ"].setdefault(what, {}).setdefault(name, []).append(seen[0])
        for extra in ("bgrad_len", "bytes_written", "read_as"):
            if extra in case:
                entry[extra] = case[extra]
    for entry in table.values():
        if isinstance(entry, int):
            continue
        for names in entry["differ"].values():
            for name, counts in names.items():
                names[name] = spread(counts)
    return table


def determinism(cases):
    table = {}
    for case in cases:
        if case["s"] != "det" or "M" not in case:
            continue
        key = f"{types(case)} {case['t']} {case['e']} {case['M']}x{case['N']}x{case['K']}" + (" beta" if "beta" in case else "")
        entry = table.setdefault(key, {"algorithms": 0, "bits of 20 runs": [], "equal to the first algorithm": 0,
                                       "split": [], "workspace": []})
        if "runs" in case:
            entry["algorithms"] += 1
            entry["bits of 20 runs"].append(case["distinct"])
            entry["equal to the first algorithm"] += case["same_as_first"]
            entry["split"].append(case["algo"][3])
            entry["workspace"].append(case["ws"])
        elif case.get("g") == "wsLimit":
            entry.setdefault("by workspace limit", {})[str(case["limit"])] = (
                [case["n"], case.get("ws"), "same bits" if case.get("same_out") else "other bits"] if case["n"] else "none")
        elif "g" in case:
            entry[case["g"]] = "same" if case.get("same_out", case.get("same_results")) else "differs"
    for entry in table.values():
        for name in ("bits of 20 runs", "workspace"):
            entry[name] = spread(entry[name]) if entry[name] else None
    return table


def kernel(name):
    """A name without its template arguments."""
    head = name.split(" grid")[0]
    for word in ("splitKreduce_kernel", "epilogue", "bgrad", "cutlass_80_simt_sgemm"):
        if word in head and not head.startswith(("nvjet", "sm")):
            return word
    return re.sub(r"_execute.*|_kernel__5x.*", "", head)[:60]


def capture(cases):
    table = collections.defaultdict(collections.Counter)
    bad = []
    for case in cases:
        if case["s"] != "capture" and not case["s"].startswith("capcold") or "names" not in case:
            continue
        nodes = " + ".join([kernel(n) for n in case["names"]] + ["memset"] * case["memsets"])
        label = case["case"] + (f" ({case['g']})" if "g" in case else "") + (" cold" if "capcold" in case["s"] else "")
        table[label][nodes] += 1
        if any(case.get(k) for k in ("mm", "end", "inst", "launch", "sync", "other")) or not case.get("replay_same"):
            bad.append({k: v for k, v in case.items() if k != "names"})
    return {"nodes": {k: dict(v) for k, v in table.items()}, "failures": bad}


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def host(cases):
    rows = [c for c in cases if c["s"] == "host" and "case" in c]
    names = ("heur_first_us", "heur_again_us", "first_call_us", "call_us", "call_null_algo_us", "check_us")
    out = {name: {"median": sorted(c[name] for c in rows)[len(rows) // 2], "max": max(c[name] for c in rows)}
           for name in names}
    for case in cases:
        if case["s"] == "host" and "g" in case:
            out[case["g"]] = {k: v for k, v in case.items() if k not in ("s", "g")}
    return rounded(out)


def speed(cases):
    rows = []
    for case in cases:
        if case["s"] != "speed" or "best" not in case:
            continue
        rows.append([case["m"], case["p"], case["dir"] + (" beta" if "beta" in case else ""), types(case) + (" TF32" if case.get("c") == "TF32" else ""),
                     case["t"], case["e"], f"{case['M']}x{case['N']}x{case['K']}", round(case["first"]), round(case["best"]), case["ws0"]])
    return {"columns": ["model", "product", "direction", "types", "transposition", "epilogue", "MxNxK",
                        "TFLOP/s of the first algorithm", "of the best of eight", "workspace of the first"],
            "rows": rows, "8192 cubed": [c["tflops"] for c in cases if c.get("g") == "8192 cubed"]}


def compact(value, depth=0):
    """JSON with one row a line."""
    if depth < 2 and isinstance(value, (dict, list)) and value:
        pad = " " * (depth + 1)
        items = ([f"{json.dumps(k)}: {compact(v, depth + 1)}" for k, v in value.items()]
                 if isinstance(value, dict) else [compact(v, depth + 1) for v in value])
        ends = "{}" if isinstance(value, dict) else "[]"
        return ends[0] + "\n" + ",\n".join(pad + i for i in items) + "\n" + " " * depth + ends[1]
    return json.dumps(value)


def main():
    cases = [json.loads(line) for line in open(sys.argv[1])]
    of = lambda section: [c for c in cases if c["s"] == section]
    load = next(c for c in cases if c.get("ev") == "load")
    facts = {
        "card": load["name"], "cublasLt": load["ltver"],
        "accept": accept(of("accept")), "accept others": others(of("accept")),
        **{name: variations(cases, group) for name, group in (
            ("bias type", "biasType"), ("aux type", "auxType"), ("aux leading dimension", "auxLd"), ("sizes", "dim"),
            ("sizes, padded", "dimPadded"), ("aux pointer", "auxPtr"), ("bias pointer", "biasPtr"), ("pointers", "ptr"))},
        "misuse": misuse(cases), "rounding": rounding(cases), "determinism": determinism(cases),
        "capture": capture(cases), "host": host(cases), "speed": speed(cases)}
    (HERE / "lt.json").write_text(compact(facts) + "\n")


if __name__ == "__main__":
    main()
