#!/usr/bin/env python3
"""No file names a place of the machine it was written on.

Tests that need a file ask the standard library for one; nothing is read from or
written to a place that only one machine has.
"""

import re

import tree

# Spelled apart, so that this file does not contain what it looks for.
PLACES = ["/" + name for name in ("work", "tmp", "root", "home", "Users")]
PATTERN = re.compile(r"(?<![\w.})>*\]-])(" + "|".join(PLACES) + r")(?=[/\"'`\s):,;]|$)",
                     re.MULTILINE)


def check(root):
    for path in tree.files(root):
        content = tree.text(root / path)
        for found in PATTERN.finditer(content or ""):
            line = content.count("\n", 0, found.start()) + 1
            yield (f"{path}:{line}: expected no place of one machine, found "
                   f"'{found[1]}'; use a path relative to the repository")


if __name__ == "__main__":
    tree.main(check, "no absolute path of the author's machine")
