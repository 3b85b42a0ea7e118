#!/usr/bin/env python3
"""Compares the stand-in of NCCL with the real one, step by step.

    compare.py PROBE LIBRARIES [--show] [FILTER...]

PROBE is the program behind test/golden/cuda/nccl.json (test/golden/cuda/README.md
says where its source is), and runs its cases with the libcuda.so.1 and
libnccl.so.2 of the folder LIBRARIES. Every step must have the results that it had
on the GPU, but for what allowed.json lists with a reason. A FILTER is a part of
the names of cases. Exits with 1 if there is another difference, or if a listed
one is no more.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden" / "cuda"
sys.path.insert(0, str(GOLDEN))
import condense_nccl as condense  # noqa: E402

# About times and bytes of a device, or never ran.
UNCOMPARED_CASES = ("mem1", "mem2", "time1", "time2", "pin4_Ring_Simple_1ch", "pin4_PAT")
# Sentences, names of kernels, bits that follow from the algorithm, and what lies in
# buffers behind a call that went wrong.
UNCOMPARED = {"took", "ranks", "step", "last", "kernels", "hash", "repeats", "repeats_same_bits", "first", "at_900",
              "driver", "op", "name", "async_in_call"}
ORDERS = ("rotated_chain", "reverse_chain", "any_chain", "pairs", "rounded_once", "chain_from_", "back_from_")
# The probe's copies from pageable memory are not ordered with its streams, which
# the driver's stand-in takes for races; some of its buffers overlap.
LENIENT = "races,unwritten_memory,overlap"
# Together they are in the name of every case.
FILTERS = ("version", "trick", "dup_gpu", "args", "p2p", "missing", "killed", "bad_", "risk1", "opposite", "colls", "abort",
           "pin", "graph", "nonblocking", "destroy_one", "unpaired", "two_streams", "misaligned", "oob", "null_buffer",
           "host_pointer", "register", "exited", "init_", "split4", "results")


def facts(row):
    """What is compared of a row. Of orders of additions: whether a ring's chain explains all elements."""
    kept = {key: value for key, value in row.items() if key not in UNCOMPARED and not key.startswith(ORDERS)}
    if "rotated_chain" in row:
        kept["all are chains in rank order"] = row["rotated_chain"] == row["n"]
    return json.dumps(kept, sort_keys=True)


def steps(rows, ranks):
    """Per step and rank the different facts."""
    table = {}
    for row in rows:
        if row["step"] == "symbol missing":  # of the driver, that no case needs
            continue
        for rank in row.get("ranks", range(ranks)):
            table.setdefault(row["step"], {}).setdefault(rank, set()).add(facts(row))
    return table


def settled(ours):
    """Ranks give up a hang by an abort, one a little before the other. The real abort takes half a second, so that
    nobody sees the other's; here it takes no time, and the later one sees it."""
    rows = {rank: [json.loads(row) for row in facts] for rank, facts in ours.items()}
    for rank, mine in rows.items():
        others = [row for other, facts in rows.items() if other != rank for row in facts]
        for row in mine:
            if row.get("async_at_hang") == "ncclRemoteError" and any(other.get("abort") for other in others):
                row.pop("async", None)
                row["async_at_hang"] = "ok"
    return {rank: {json.dumps(row, sort_keys=True) for row in mine} for rank, mine in rows.items()}


def execute(options, part):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "nccl.jsonl")
        settings = dict(os.environ, LD_LIBRARY_PATH=options.libraries, MTC_STANDIN_REPORT=os.path.join(folder, "said"),
                        MTC_STANDIN_IDLE="0.05", MTC_STANDIN_ALLOW=LENIENT)
        library = os.path.join(options.libraries, "libnccl.so.2")
        subprocess.run([options.probe, library, out, folder, "300", part], env=settings, check=True,
                       stdout=subprocess.DEVNULL)
        return condense.nccl(out)


def rank_count(*lists):
    return 1 + max([rank for rows in lists for row in rows for rank in row.get("ranks", [0])])


def words(table, step):
    return {rank: sorted(facts) for rank, facts in sorted(table.get(step, {}).items())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("libraries")
    parser.add_argument("--show", action="store_true", help="the listed differences, too")
    parser.add_argument("filters", nargs="*")
    options = parser.parse_args()
    real = json.loads((GOLDEN / "nccl.json").read_text())
    allowed = json.loads((HERE / "allowed.json").read_text())
    found = {}
    for part in options.filters or FILTERS:
        for name, rows in execute(options, part).items():
            if part in name:
                found.setdefault(name, rows)
    counts = {"equal": 0, "stricter": 0, "other": 0, "missing": 0, "wrong": 0}
    used = set()
    for case, rows in sorted(found.items()):
        if case in UNCOMPARED_CASES or case not in real:
            continue
        ranks = rank_count(real[case], rows)
        theirs, ours = steps(real[case], ranks), steps(rows, ranks)
        for step in list(theirs) + [step for step in ours if step not in theirs]:
            name = f"{case}.{step}"
            entry = next((key for key in allowed if fnmatch.fnmatchcase(name, key)), None)
            differs = theirs.get(step) not in (ours.get(step), settled(ours.get(step, {})))
            kind = "equal" if not differs else allowed[entry].split(":")[0] if entry else "wrong"
            counts[kind] += 1
            used |= {entry} if differs else set()
            if kind == "wrong" or (differs and options.show):
                print(f"{name}: expected {words(theirs, step)}, found {words(ours, step)}"
                      + (f" ({allowed[entry]})" if entry else ""))
    gone = [key for key in allowed if key not in used and any(fnmatch.fnmatchcase(case, key.split(".")[0]) for case in found)]
    for key in gone:
        print(f"{key}: no difference any more, but allowed.json lists one")
    absent = [] if options.filters else sorted(set(real) - set(found) - set(UNCOMPARED_CASES))
    for case in absent:
        print(f"{case}: did not run")
    print(f"{sum(counts.values())} steps: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    sys.exit(bool(counts["wrong"] or gone or absent))


if __name__ == "__main__":
    main()
