#!/usr/bin/env python3
"""A fragment is machine code: its calls are direct.

Compiles a small model, disassembles the programs, both the executables and the
shared objects of `--comm threads`, and fails on a call or jump through a register or
a table in memory inside a fragment, or if a fragment makes no call at all.

In an executable every call names the function it calls. In a shared object a call
out of the object goes to its linkage table (name@plt, or name$plt of some linkers):
a direct call of the table's entry, which jumps to the address that the loader found.
That is allowed for functions of the runtime (mtc_...) and for nothing else.
"""

import os
import re
import subprocess
import sys
import tempfile

from run_layout import Report


def fragments(listing):
    """Yields (name, instructions) of every fragment in objdump's listing."""
    name, lines = None, []
    for line in listing.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.+)>:$", line)
        if head:
            if name:
                yield name, lines
            found = re.fullmatch(r"stage\d+_(fwd|bwd|eval|reduce|apply)", head.group(1))
            name, lines = (head.group(1), []) if found else (None, [])
        elif name and line.startswith(" "):
            lines.append(line.split("\t")[-1].strip())
    if name:
        yield name, lines


TRANSFER = r"(?:(?:notrack|bnd|data16|rex\S*) +)*(call|jmp)\w*\b"
LINKAGE = r"<(.*)[@$](?:plt|pltgot)>"


def problems(name, instructions, shared):
    """What is wrong with one fragment, as sentences."""
    calls = [i for i in instructions if re.match(TRANSFER, i)]
    if not any(i.startswith("call") for i in calls):
        yield f"{name}: expected calls of kernels, found none"
    for i in calls:
        linked = re.search(LINKAGE, i)
        if "*" in i:
            yield f"{name}: expected direct calls only, found '{i}'"
        elif linked and not (shared and linked[1].startswith("mtc_")):
            yield (f"{name}: expected no call through the linkage table but of the "
                   f"runtime in a shared object, found '{i}'")
        elif not re.search(r"<.+>$", i):
            yield f"{name}: expected a call with a name, found '{i}'"


# Options of a plan, and of its first programs whose fragments those are.
PLANS = [
    (["--tp", "2", "--pp", "2", "--dp", "2", "--mbs", "2", "--gbs", "8", "--zero", "1"],
     ["stage0", "stage1"]),
    # The two in the middle have one code.
    (["--set", "model.layers=4", "--pp", "4", "--mbs", "1", "--gbs", "4"],
     ["stage0", "stage1", "stage1", "stage3"]),
]
KINDS = 5  # fragments of a stage


def check(mtc, folder, options, owners):
    """The number of fragments that were looked at, and what is wrong with them."""
    out, wrong, count = os.path.join(folder, "bundle"), [], 0
    subprocess.run([mtc, "compile", "gpt2-nano", *options, "-o", out], check=True,
                   stdout=subprocess.DEVNULL)
    for stage, owner in enumerate(owners):
        for suffix in ("", ".so"):
            file = f"stage{stage}{suffix}"
            listing = subprocess.run(
                ["objdump", "-d", "--no-show-raw-insn", os.path.join(out, "programs", file)],
                check=True, capture_output=True, text=True).stdout
            found = list(fragments(listing))
            for name, instructions in found:
                wrong += problems(f"{file}: {name}", instructions, suffix == ".so")
            named = [name for name, _ in found if name.startswith(owner + "_")]
            if len(named) != KINDS or len(found) != KINDS:
                wrong.append(f"{file}: expected {KINDS} fragments named after {owner}, found "
                             f"{[name for name, _ in found]}")
            count += len(found)
    return count, wrong


def main():
    mtc, report = os.path.join(sys.argv[1], "mtc"), Report()
    total = 0
    for options, owners in PLANS:
        with tempfile.TemporaryDirectory() as folder:
            count, wrong = check(mtc, folder, options, owners)
        total += count
        report.expect_none(wrong)
    return report.finish(f"{total} fragments")


if __name__ == "__main__":
    sys.exit(main())
