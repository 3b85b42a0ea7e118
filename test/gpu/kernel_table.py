"""What kernel_times.cpp wrote, as a table of one step."""

import collections
import json


def table(path, most=60):
    """Lines: time, share, launches, name and grid; the longest first. Empty: nothing was timed."""
    with open(path) as file:
        rows = sorted((json.loads(line) for line in file), key=lambda row: row["begin"])
    rows = last_step(rows)
    if not rows:
        return []
    groups = collections.defaultdict(list)
    for row in rows:
        shape = "x".join(map(str, row["grid"])) + " " + str(row["block"][0]) if "grid" in row else ""
        groups[f"{row['name'][:70]} {shape}"].append((row["end"] - row["begin"]) / 1e3)
    busy = sum(map(sum, groups.values()))
    span = (max(row["end"] for row in rows) - rows[0]["begin"]) / 1e3
    lines = [f"{len(rows)} operations, {busy / 1e3:.2f} ms of {span / 1e3:.2f} ms"]
    for name, times in sorted(groups.items(), key=lambda item: -sum(item[1]))[:most]:
        lines.append(f"{sum(times):9.1f} us {100 * sum(times) / busy:5.1f} % {len(times):4} x  {name}")
    return lines


def last_step(rows):
    """The last kernels that are a whole step: its kernels repeat those of the step before, one by
    one, and none of the run is missing. Where in a step this begins is of no concern."""
    kernels = [row for row in rows if "grid" in row]
    names = [(row["name"], tuple(row["grid"])) for row in kernels]
    all_of_them = set(names[len(names) // 2:])
    for period in range(len(all_of_them), len(names) // 2 + 1):
        if names[-period:] == names[-2 * period:-period] and set(names[-period:]) == all_of_them:
            return kernels[-period:]
    return []  # no whole step twice
