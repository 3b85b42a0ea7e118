#!/usr/bin/env python3
"""Compares the stand-in of the CUDA driver with the real one, call by call.

    compare.py PROBE LIBRARY [--show] [CASE...]

PROBE is the program behind test/golden/cuda/driver.json, with PTX in place of
its cubin, and runs its cases under LIBRARY, a folder with libcuda.so.1. Every
call must return what it returned on the GPU, captures must be in the same
states and have the same graphs, but for what allowed.json lists with a reason.
Exits with 1 if there is another difference, or if a listed one is no more.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden" / "cuda"
sys.path.insert(0, str(GOLDEN))
import condense_driver as condense  # noqa: E402

# A question about work in flight has two right answers, and an error of the
# device shows in whichever call comes next.
ASKING = ("cuStreamQuery", "cuEventQuery", "cuEventElapsedTime")
WAITING = ("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize")
FAULTS = ("ILLEGAL_ADDRESS", "MISALIGNED_ADDRESS", "LAUNCH_FAILED", "ILLEGAL_INSTRUCTION", "ASSERT", "LAUNCH_TIMEOUT")
# What the probe writes where setting up the arguments of a call fails.
BROKEN = ((",,[", ",\"(did not begin)\",0],["), ("}\"(did not return)\",0]", "}"))
LENIENT = "races,unwritten_memory,unwritten_shared,ended_threads,warp_races"
# These are about times and bytes of a device.
UNCOMPARED = ("timing", "probe")

Call = collections.namedtuple("Call", "text name result")


def ours(path):
    """What the probe wrote, in the form of driver.json."""
    cases = {}
    for line in pathlib.Path(path).read_text().splitlines():
        for wrong, right in BROKEN:
            line = line.replace(wrong, right)
        row = json.loads(line, strict=False) if line.strip() else {"group": "probe"}
        if row["group"] in UNCOMPARED:
            continue
        case = {"end": row["end"]}
        if row["group"] == "capture_op":
            case["tried"] = condense.by_mode(row["events"])
        else:
            case["events"] = condense.plain(row["events"])
            for event in case["events"]:
                for key in event if isinstance(event, dict) else ():
                    if key == "graph":
                        event[key] = condense.edges(event[key])
                    elif key.startswith("capture state"):
                        event[key] = condense.state(event[key])
        cases[f"{row['group']}.{row['case']}"] = case
    return cases


def golden():
    groups = json.loads((GOLDEN / "driver.json").read_text())
    return {f"{group}.{name}": case for group, cases in groups.items() if isinstance(cases, dict)
            for name, case in cases.items()}


def calls(events):
    found = []
    for event in events:
        if isinstance(event, str):
            text, result = event.rsplit(" = ", 1)
            found.append(Call(text, re.match(r"[\w ]+", text)[0].removeprefix("setup "), result))
    return found


def seen(events):
    return [event for event in events if isinstance(event, dict)
            and any(key == "graph" or key.startswith("capture state") for key in event)]


def by_modes(tried):
    """What is listed for several modes at once, for each of them."""
    table = {}
    for entry in tried:
        modes = entry["modes"]
        for mode in ("global", "thread_local", "relaxed"):
            for name in (mode, mode + " elsewhere"):
                if modes == "all" or re.search(rf"\b{name}(?! elsewhere)\b", modes):
                    table[name] = {key: value for key, value in entry.items() if key not in ("modes", "seen")}
    return table


def settled(entry):
    """Without the answers that depend on time."""
    return json.loads(json.dumps(entry).replace("= NOT_READY", "= SUCCESS"))


def difference(real, found):
    """The first one in words, or None."""
    if "tried" in real:
        expected, got = by_modes(real["tried"]), by_modes(found["tried"])
        for mode, entry in expected.items():
            if settled(entry) != settled(got.get(mode, {})):
                return f"{mode}: expected {entry}, found {got.get(mode)}"
        return None
    theirs, mine = calls(real["events"]), calls(found["events"])
    # Of the real device; what is a fault here only is a difference.
    faults = {call.result for call in theirs} & set(FAULTS)
    for k, (expected, got) in enumerate(zip(theirs, mine)):
        if expected.result == got.result:
            continue
        both = {expected.result, got.result}
        asked = expected.name in ASKING and both <= {"SUCCESS", "NOT_READY"}
        early = len(faults) == 1 and both & faults and expected.name not in WAITING
        if not asked and not early:
            return f"call {k + 1}, {expected.text}: expected {expected.result}, found {got.result}"
    # A fault may show so early that the set-up of a later call fails.
    if mine and faults and mine[-1].result in faults and "setup " in mine[-1].text:
        return None
    if real.get("end", "ok") == "ok" and len(theirs) != len(mine):
        return f"expected {len(theirs)} calls, found {len(mine)}, end {found['end']}"
    if real.get("end", "ok") == "ok" and seen(real["events"]) != seen(found["events"]):
        return f"expected {seen(real['events'])}, found {seen(found['events'])}"
    return None


def missing(case):
    found = re.search(r"(cu\w+)\([^=]* = SYMBOL_MISSING", json.dumps(case))
    return found[1] if found else None


def execute(options, wanted, **environment):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "driver.jsonl")
        settings = dict(os.environ, LD_LIBRARY_PATH=options.library, MTC_STANDIN_REPORT=os.path.join(folder, "said"),
                        **environment)
        subprocess.run([options.probe, "--seconds", "300", "-j", "2", "-o", out, *wanted], env=settings, check=True,
                       stdout=subprocess.DEVNULL)
        return ours(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("library")
    parser.add_argument("--allowed", default=HERE / "allowed.json")
    parser.add_argument("--show", action="store_true", help="the listed differences, too")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    real = golden()
    allowed = json.loads(pathlib.Path(options.allowed).read_text())
    cases = execute(options, options.cases or sorted({name.split(".")[0] + "." for name in real}))
    counts = {"equal": 0, "listed": 0, "missing": 0, "wrong": 0}
    stricter = []
    for name in sorted(set(cases) & set(real)):
        reason = allowed.get(name)
        lacks = missing(cases[name])
        found = f"lacks {lacks}" if lacks else difference(real[name], cases[name])
        kind = "equal" if not found else "wrong" if not reason else "missing" if lacks else "listed"
        if reason and not found and not reason.startswith("stricter under some seeds"):
            kind, found = "wrong", "no difference any more, but allowed.json lists one"
        elif kind == "listed" and reason.startswith("stricter"):
            stricter.append(name)
        counts[kind] += 1
        if kind == "wrong" or (options.show and found):
            print(f"{name}: {found}" + (f" ({reason})" if reason else ""))
    # A fault hides what comes behind it: the same cases without the checks.
    lenient = execute(options, stricter, MTC_STANDIN_ALLOW=LENIENT) if stricter else {}
    equal = 0
    for name in stricter:
        found = difference(real[name], lenient[name])
        equal += not found
        if found and options.show:
            print(f"without checks, {name}: {found}")
    print(f"{sum(counts.values())} cases: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) +
          f"; without checks {equal} of the {len(stricter)} stricter ones are equal, too")
    sys.exit(counts["wrong"] > 0)


if __name__ == "__main__":
    main()
