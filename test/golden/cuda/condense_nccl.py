#!/usr/bin/env python3
"""Condenses what the NCCL probe wrote into nccl.json, and PyTorch's figures into torch.json:

    python3 condense_nccl.py nccl.jsonl torch.jsonl
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
DROP = {"case", "t", "rank", "step", "call_blocked", "host_rss", "bytes", "free", "total", "seconds", "why", "ptr", "lib"}
CLOCK = {"abort_ms", "revoke_ms", "device_bytes", "device_bytes_per_rank", "host_us_median", "host_us_mean", "device_us",
         "instantiate_ms", "last_launch_host_ms", "capture_call_ms", "ms_each", "ms_each_time_sliced", "ms"}
NAMED = {"ncclSuccess": "ok", "CUDA_SUCCESS": "ok"}


def text(value):
    if not isinstance(value, str):
        return float(f"{value:.3g}") if isinstance(value, float) else value
    value = re.sub(r"\d+\.\d+\.\d+\.\d+<\d+>", "PEER", value)
    value = re.sub(r"0x[0-9a-f]{5,}", "POINTER", value)
    value = re.sub(r"_Z\d+(ncclDevKernel_\w+?)24ncclDevKernelArgsStorage\w*", r"\1", value)
    value = re.sub(r"__nv_static\w*oneRankReduce\w*", "oneRankReduce", value)
    return NAMED.get(value, value.strip())


def fact(case):
    """What happened, and apart from it what it took."""
    said, clock = {}, {}
    for key, value in case.items():
        if key in DROP:
            continue
        if key in CLOCK:
            clock[key] = text(value)
        elif not key.endswith("_ms") and not key.startswith(("polls", "host_us")):
            said[key] = text(value)
    return said, clock


def nccl(path):
    cases = {}
    for line in open(path):
        case = json.loads(line)
        if case.get("step") in ("load", "context", "end", "start") or case["case"] == "runner":
            continue
        cases.setdefault(case["case"], []).append(case)
    out = {}
    for name, events in cases.items():
        rows = {}
        for event in events:
            if event["step"] == "case ended":
                if event.get("result") != "exit" or event.get("status"):
                    rows.setdefault("ended", []).append((0, {"by": event.get("result"), "signal": event.get("signal"), "at": event.get("at")}, {}))
                continue
            said, clock = fact(event)
            rows.setdefault(event["step"], []).append((event.get("rank", 0), said, clock))
        out[name] = []
        for step, seen in rows.items():
            groups = []
            for rank, said, clock in seen:
                same = next((g for g in groups if g["said"] == said), None)
                if same:
                    same["ranks"].append(rank)
                else:
                    groups.append({"ranks": [rank], "said": said, "clock": clock})
            for group in groups:
                row = {"step": step}
                if len(groups) > 1:
                    row["ranks"] = sorted(set(group["ranks"]))
                row.update(group["said"])
                if group["clock"]:
                    row["took"] = group["clock"]
                out[name].append(row)
    return out


def torch(path):
    out = {"train": [], "profile": [], "others": []}
    for line in open(path):
        step = json.loads(line)
        kind = step.pop("step")
        step.pop("t", None)
        if kind == "profile":
            step.pop("top", None)
        if kind in ("train", "profile"):
            out[kind].append(step)
        elif kind not in ("end", "skipped"):
            out["others"].append({"what": kind, **{("note" if k == "what" else k): v for k, v in step.items()}})
    return out


def write(path, value):
    """One row a line."""
    body = []
    for name, rows in value.items():
        lines = ",\n".join("  " + json.dumps(row) for row in rows)
        body.append(f" {json.dumps(name)}: [\n{lines}\n ]")
    path.write_text("{\n" + ",\n".join(body) + "\n}\n")


def main():
    write(HERE / "nccl.json", nccl(sys.argv[1]))
    write(HERE / "torch.json", torch(sys.argv[2]))


if __name__ == "__main__":
    main()
