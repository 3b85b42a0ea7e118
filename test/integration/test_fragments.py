#!/usr/bin/env python3
"""A fragment is machine code: its calls are direct.

Compiles a small model, disassembles the programs and fails on an indirect call
or jump inside a fragment, or if a fragment makes no call at all.
"""

import os
import re
import subprocess
import sys
import tempfile


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


def problems(name, instructions):
    """What is wrong with one fragment, as sentences."""
    calls = [i for i in instructions if re.match(r"(call|jmp)\w*\b", i)]
    if not any(i.startswith("call") for i in calls):
        yield f"{name}: expected calls of kernels, found none"
    for i in calls:
        if "*" in i:
            yield f"{name}: expected direct calls only, found '{i}'"


def main():
    mtc = os.path.join(sys.argv[1], "mtc")
    found, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "bundle")
        subprocess.run([mtc, "compile", "gpt2-nano", "--tp", "2", "--pp", "2", "--dp", "2", "--mbs", "2",
                        "--gbs", "8", "--zero", "1", "-o", out], check=True, stdout=subprocess.DEVNULL)
        for stage in range(2):
            program = os.path.join(out, "programs", f"stage{stage}")
            listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True,
                                     capture_output=True, text=True).stdout
            for name, instructions in fragments(listing):
                found += 1
                wrong += list(problems(name, instructions))
    if found != 10:
        wrong.append(f"expected 10 fragments (5 a stage), found {found}")
    for sentence in wrong:
        print(sentence)
    print(f"{found} fragments, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
