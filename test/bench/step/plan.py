"""What a step must do, read from a bundle's programs and from its IR.

FLOPs of GEMMs from the descriptor's rows and the number of their calls, bytes
of generated kernels from the operands of each launch and the timeline. Caches are not
modelled: an operand that a kernel reads is counted once from memory.
"""

import collections
import json
import os
import re
import subprocess

BYTES = {"f32": 4, "i32": 4, "bf16": 2, "i64": 8, "i8": 1}
LAUNCH = re.compile(r'rt\.launch @\w+\(.*?\{(.*?)\} : \((.*?)\) -> \(\)')
PLAIN_LAUNCH = re.compile(r'rt\.launch @\w+\(.*writes \[\] : \((.*?)\) -> \(\)')
RUN = re.compile(r'rt\.step run @(\w+)')


def size_of(type_text):
    *dims, element = type_text.split("x")
    count = 1
    for dim in dims:
        count *= int(dim)
    return count * BYTES[element]


def launch_bytes(line):
    """Of one launch. Of a table only the rows that are looked up are touched: as many
    bytes as the other float operand has."""
    found = LAUNCH.search(line)
    if not found:
        return 0
    sizes = [size_of(t) for t in re.findall(r"memref<([\w]+)>", found[2])]
    if "embed" in found[1]:
        sizes = sorted(sizes)[:-1] + [sorted(sizes)[-2]]
    return sum(sizes)


class Kernels:
    """Bytes of the generated kernels of a step, by stage: of microbatches only."""

    def __init__(self, path):
        self.bytes, self.launches = collections.Counter(), collections.Counter()
        stage, fragment, train = 0, "", False
        per_fragment, count, runs = {}, {}, collections.defaultdict(collections.Counter)
        with open(path) as file:
            for line in file:
                if found := re.match(r"  rt\.program @\w+ stage (\d+)", line):
                    stage = int(found[1])
                elif found := re.match(r"    func\.func @(\w+)\(", line):
                    fragment = found[1]
                    per_fragment[fragment] = count[fragment] = 0
                # Deeper is the tensor form, of which no code is made.
                elif line.startswith("      rt.launch") and not PLAIN_LAUNCH.search(line):
                    per_fragment[fragment] += launch_bytes(line)
                    count[fragment] += 1
                elif "rt.timeline" in line:
                    train = "@train" in line
                elif train and (found := RUN.search(line)):
                    runs[stage][found[1]] += 1
        for stage, counter in runs.items():
            for fragment, times in counter.items():
                self.bytes[stage] += times * per_fragment[fragment]
                self.launches[stage] += times * count[fragment]


def descriptor(mtc, bundle, stage):
    done = subprocess.run([mtc, "inspect", "--json",
                           os.path.join(bundle, "programs", f"stage{stage}")],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def product_flops(row):
    return 2 * row["m"] * row["n"] * row["k"]


def update_bytes(d, dp):
    """AdamW: gradient read, and parameter and two moments read and written, on a dp
    rank's share; in bf16 the main parameter instead, and the parameter written. The
    accumulators are cleared: 4 bytes more."""
    total = 0
    for bucket in d["buckets"]:
        if "second_use_of" not in bucket:
            own = bucket["shard_elements"]
            total += own * (30 if d["dtype"] == "bf16" else 28)
        total += 4 * bucket["elements"]
    return total
