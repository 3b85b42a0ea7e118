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


def main():
    mtc, report = os.path.join(sys.argv[1], "mtc"), Report()
    found, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "bundle")
        subprocess.run([mtc, "compile", "gpt2-nano", "--tp", "2", "--pp", "2", "--dp", "2", "--mbs", "2",
                        "--gbs", "8", "--zero", "1", "-o", out], check=True, stdout=subprocess.DEVNULL)
        for file in ("stage0", "stage1", "stage0.so", "stage1.so"):
            program = os.path.join(out, "programs", file)
            listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True,
                                     capture_output=True, text=True).stdout
            for name, instructions in fragments(listing):
                found += 1
                wrong += problems(f"{file}: {name}", instructions,
                                  file.endswith(".so"))
    if found != 20:
        wrong.append(f"expected 20 fragments (5 a stage, in an executable and a "
                     f"shared object), found {found}")
    report.expect_none(wrong)
    return report.finish(f"{found} fragments")


if __name__ == "__main__":
    sys.exit(main())
