"""What kernel_times.cpp wrote, as a table: of three steps the last."""

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
    """From behind the last but one launch of the kernel that ends a step, which is the last of all
    kernels; copies stand between steps."""
    kernels = [row for row in rows if "grid" in row]
    if not kernels:
        return []
    ends = [row["end"] for row in kernels if row["name"] == kernels[-1]["name"] and row["grid"] == kernels[-1]["grid"]]
    each = len(ends) // 3  # a step may end with several such launches
    return [row for row in kernels if row["begin"] >= ends[-each - 1]] if each else kernels
