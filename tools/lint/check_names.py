#!/usr/bin/env python3
"""One thing has one name.

A pass: the def in Passes.td in camel case, the flag in kebab case, the file
<Def>.cpp. An op: summary, description and an example in its td entry.
"""

import re

import tree

PASS = re.compile(r'^def (\w+) : MtcPass<"([^"]+)">', re.MULTILINE)
OP = re.compile(r'^def (\w+)\s*:\s*\w*(?:_|)Op<"([\w.]+)"', re.MULTILINE)


def kebab(name):
    """InsertCollectives -> insert-collectives, LowerToLLVM -> lower-to-llvm."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def check_passes(root, paths):
    stems = {path.stem for path in paths
             if path.parts[0] == "passes" and path.suffix == ".cpp"}
    for path in paths:
        if path.name != "Passes.td":
            continue
        found = PASS.findall(tree.text(root / path))
        if not found:
            yield f"{path}: expected definitions of passes, found none"
        for name, flag in found:
            if flag != kebab(name):
                yield f"{path}: pass {name}: expected flag '{kebab(name)}', found '{flag}'"
            if name not in stems:
                yield f"{path}: pass {name}: expected a file {name}.cpp, found none"


def entries(content):
    """(mnemonic, text) of every op: the text goes to the next definition."""
    starts = [found.start() for found in re.finditer(r"^(?:def|class) ", content,
                                                     re.MULTILINE)]
    for found in OP.finditer(content):
        end = min((start for start in starts if start > found.start()),
                  default=len(content))
        yield found[2], content[found.start():end]


def check_ops(root, paths):
    number = 0
    for path in paths:
        if path.parts[0] != "dialects" or path.suffix != ".td":
            continue
        for mnemonic, entry in entries(tree.text(root / path)):
            number += 1
            for what, pattern in (("a summary", r"let summary = \"[^\"]+\""),
                                  ("a description", r"let description = \[\{"),
                                  ("an example", r"Example")):
                if not re.search(pattern, entry):
                    yield f"{path}: op {mnemonic}: expected {what}, found none"
    if not number:
        yield "dialects: expected definitions of ops, found none"


def check(root):
    paths = tree.files(root)
    yield from check_passes(root, paths)
    yield from check_ops(root, paths)


if __name__ == "__main__":
    tree.main(check, "pass = flag = file; every op says what it is, with an example")
