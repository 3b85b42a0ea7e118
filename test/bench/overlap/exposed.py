"""What a trace of `mtc run --trace` says of the time of a step: computed, or waited.

Exposed communication is time in which a rank waits for others and computes nothing: what
its stream 0 spends in exchanges, posts, waits and collectives of its own. Hidden is the
time of collectives on stream 1 beside which stream 0 computes.
"""

import json

WAITS = {"exchange", "post", "wait-transfers", "wait-collective", "collective"}
COMPUTE, COMM = 0, 1


def spans(trace):
    """By rank and stream, the complete events as (begin, end, event), in microseconds."""
    found = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found.setdefault((event["pid"], event["tid"]), []).append(
                (event["ts"], event["ts"] + event["dur"], event))
    return found


def union(intervals):
    """The intervals without overlaps, in order."""
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in union(intervals))


def overlap(ones, others):
    """Time that both sets of intervals have in common."""
    return length(ones) + length(others) - length([*map(tuple, ones), *map(tuple, others)])


def of_rank(found, rank):
    """Milliseconds of one rank: of its step, computed, exposed, communicated on stream 1,
    and of that hidden behind computations."""
    main = found[rank, COMPUTE]
    waits = [(b, e) for b, e, event in main if event["cat"] in WAITS]
    fragments = [(b, e) for b, e, event in main if event["cat"] == "fragment"]
    beside = [(b, e) for b, e, _ in found.get((rank, COMM), ())]
    computed = length(fragments) - overlap(fragments, waits)
    # Behind what stream 0 computes: what of it lies in fragments and in no wait.
    hidden = overlap(beside, fragments) - overlap(
        beside, [(max(a, c), min(b, d)) for a, b in union(waits)
                 for c, d in union(fragments) if max(a, c) < min(b, d)])
    step = max(e for _, e, _ in main) - min(b for b, _, _ in main)
    return {name: value / 1000 for name, value in
            (("step", step), ("computed", computed), ("exposed", length(waits)),
             ("beside", length(beside)), ("hidden", hidden))}


def of_file(path):
    """By rank."""
    with open(path) as file:
        found = spans(json.load(file))
    return {rank: of_rank(found, rank) for rank, stream in sorted(found) if stream == COMPUTE}
