#!/usr/bin/env python3
"""No file of code has more than 600 lines."""

import tree

CAP = 600


def check(root):
    for path in tree.files(root):
        if path.suffix not in tree.CODE:
            continue
        lines = (tree.text(root / path) or "").count("\n")
        if lines > CAP:
            yield f"{path}: expected at most {CAP} lines, found {lines}; split the file"


if __name__ == "__main__":
    tree.main(check, f"a file has at most {CAP} lines")
