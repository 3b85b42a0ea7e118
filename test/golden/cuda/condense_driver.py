#!/usr/bin/env python3
"""Condenses what the driver probe wrote (one JSON object a line) into driver.json
and driver_times.json:

    python3 condense_driver.py driver.jsonl
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
TIME = re.compile(r"(^|[ _])(us|ms|ns|s)($|[ _])|_us|_ms|us per|gb_s|jit wall")
NOISE = ("info log", "library")
MODES = ("global", "thread_local", "relaxed")


def call(event):
    name, args, result = event[:3]
    return f"{name}({args}) = {result}"


def plain(events):
    """Calls as text, observations as they are; no times."""
    out = []
    for event in events:
        if isinstance(event, list):
            out.append(call(event))
            continue
        kept = {key: value for key, value in event.items()
                if not TIME.search(key) and key not in NOISE}
        if kept:
            out.append(kept)
    return out


def state(text):
    """`IsCapturing SUCCESS active; GetCaptureInfo SUCCESS active id ...` is `active`."""
    query, info = text.split("; ")
    word = query.split()[-1]
    return word if query == f"IsCapturing SUCCESS {word}" and f"SUCCESS {word}" in info else text


def edges(graph):
    return f"{' '.join(graph['nodes'])} | {' '.join(f'{a}>{b}' for a, b in graph['edges'])}".strip(" |")


def captured(events):
    """What one call did to a capture: its results, the state after it, the graph."""
    result, seen, at = {"calls": []}, False, result_key(events)
    for event in plain(events):
        if isinstance(event, dict):
            (key, value), = list(event.items())[:1]
            if key == "capture state after the call":
                seen, result["state"] = True, state(value)
            elif key == "capture state after end":
                if state(value) != "none":
                    result["state after end"] = state(value)
            elif key == "graph":
                result["graph"] = edges(value)
            elif key != "graph out":
                kept = {k: state(v) if k.startswith("capture state") else v for k, v in event.items()}
                result.setdefault("seen", {}).update(kept)
        elif not seen:
            result["calls"].append(event)
        elif not event.endswith("= " + at):
            result.setdefault("then", []).append(event)
    return result


def result_key(events):
    """The result that calls behind the tried one have, if all is as its state says."""
    states = [state(e["capture state after the call"]) for e in events
              if isinstance(e, dict) and "capture state after the call" in e]
    return "STREAM_CAPTURE_INVALIDATED" if states and states[0] == "invalidated" else "SUCCESS"


def by_mode(events):
    """Splits at `mode`; modes that agree have one entry."""
    parts, name = {}, None
    for event in events:
        if isinstance(event, dict) and "mode" in event:
            name = event["mode"].replace(", call from another thread", " elsewhere")
            parts[name] = []
        elif name:
            parts[name].append(event)
    merged = []
    for name, part in parts.items():
        told = captured(part)
        for names, other in merged:
            if other == told:
                names.append(name)
                break
        else:
            merged.append(([name], told))
    return [{"modes": " ".join(names) if len(names) < len(parts) else "all", **told}
            for names, told in merged]


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return value


def times(events):
    out = []
    for event in events:
        if isinstance(event, dict) and "init_us" not in event:
            out.append(rounded(event))
        elif isinstance(event, list) and event[2] != "SUCCESS":
            out.append(call(event))
    return out


def dump(path, head, groups):
    """One case a line, so that a difference shows."""
    lines = [json.dumps(head)[1:-1] + ","] if head else []
    body = []
    for group, cases in groups.items():
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.items())
        body.append(f' {json.dumps(group)}: {{\n{rows}\n }}')
    path.write_text("{\n" + "\n".join(lines) + "\n" + ",\n".join(body) + "\n}\n")


def main():
    groups, clock, printed = {}, {}, {}
    for line in open(sys.argv[1]):
        case = json.loads(line)
        group, name = case["group"], case["case"]
        if group == "probe":
            continue
        if group == "timing":
            clock.setdefault(group, {})[name] = {"what": case["what"], "seen": times(case["events"])}
            continue
        entry = {}
        if group != "capture_op":
            entry["what"] = case["what"]
        if case["end"] != "ok":
            entry["end"] = case["end"]
        if group == "capture_op":
            entry["tried"] = by_mode(case["events"])
        else:
            entry["events"] = plain(case["events"])
            for event in entry["events"]:
                if isinstance(event, dict):
                    for key, value in list(event.items()):
                        if key == "graph":
                            event[key] = edges(value)
                        elif key.startswith("capture state"):
                            event[key] = state(value)
        groups.setdefault(group, {})[name] = entry
        printed[group] = printed.get(group, 0) + 1
    head = {"card": "NVIDIA H100 80GB HBM3", "driver": "580.159.04", "cuda": 13000}
    dump(HERE / "driver.json", head, groups)
    dump(HERE / "driver_times.json", head, clock)
    print(printed)


if __name__ == "__main__":
    main()
