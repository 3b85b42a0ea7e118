#!/usr/bin/env python3
"""Every fenced example of docs/reference is IR that mtc-opt reads.

Examples are excerpts, so names may be used that nothing defines; nothing else may be
wrong. usage: test_examples.py SOURCE BUILD
"""

import pathlib
import re
import subprocess
import sys

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
UNDEFINED = re.compile(r"use of undeclared SSA value name|use of value .* expects")
# What the pages have today; fewer would mean that this test looks past them.
FEWEST = 110


def blocks(page):
    """(line, text) of every block that says it is MLIR."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```mlir\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)) + 1, found[1]


def as_module(block):
    """An attribute alone is no module; ops, excerpts or not, are one."""
    return f"module attributes {{mtc.example = {block.strip()}}} {{}}" \
        if block.startswith("#") else block


def errors(block):
    # An SSA name may stand in two steps of one block: each step is read alone.
    for part in as_module(block).split("\n\n"):
        result = subprocess.run([BUILD / "bin" / "mtc-opt", "-"], input=part, text=True,
                                capture_output=True)
        yield from (line for line in result.stderr.splitlines()
                    if "error:" in line and not UNDEFINED.search(line))


def main():
    number = wrong = 0
    for page in sorted((SOURCE / "docs" / "reference").glob("*.md")):
        for line, block in blocks(page):
            number += 1
            for error in errors(block):
                wrong += 1
                print(f"{page.relative_to(SOURCE)}:{line}: expected IR that mtc-opt "
                      f"reads, found {error}\n{block}")
    if number < FEWEST:
        wrong += 1
        print(f"expected {FEWEST} examples or more, found {number}")
    print(f"{number} examples, {wrong} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
