#!/usr/bin/env python3
"""One thing has one name.

A pass: the def in Passes.td in camel case, the flag in kebab case, the file
<Def>.cpp. Whatever docs/reference shows says what it is: ops, attributes and types
with a summary, a description and an example, enums with a summary and a description,
passes with a summary, why they exist, and IR before and after.
"""

import re

import tree

PASS = re.compile(r'^def (\w+) : (?:Mtc|Program)Pass<"([^"]+)">', re.MULTILINE)
# def NAME : BASE<arguments>
ENTRY = re.compile(r"^def (\w+)\s*:\s*(\w+)<(.*)", re.MULTILINE)
SUMMARY = ("a summary", r"let summary = \"[^\"]+\"")
ENUM_SUMMARY = ("a summary", r"EnumAttr<\"\w+\", \"[^\"]+\"")
DESCRIPTION = ("a description", r"let description = \[\{\s*\S")
EXAMPLE = ("an example ('Example:' and IR in backticks or in a fenced block)",
           r"Example:\s+`")
# A first line without a margin leaves the others theirs: Markdown takes them for code.
MARGIN = ("a description that starts on a line of its own",
          r"let description = \[\{(?:\n|[^\n]*\}\];)")
BEFORE = ("'Input...:' and a fenced block", r"^    Input[^`]*(?:`[^`\n]+`[^`]*)*:\n\s*```|"
                                          r"^    Input: the result of `")
AFTER = ("'Output...:' and a fenced block", r"^    Output[^`]*(?:`[^`\n]+`[^`]*)*:\n\s*```|"
                                          r"^    Output: the same IR")
WANTED = {
    "op": (SUMMARY, DESCRIPTION, EXAMPLE, MARGIN),
    "attribute": (SUMMARY, DESCRIPTION, EXAMPLE, MARGIN),
    "type": (SUMMARY, DESCRIPTION, EXAMPLE, MARGIN),
    "enum": (ENUM_SUMMARY, DESCRIPTION, MARGIN),
    "pass": (SUMMARY, DESCRIPTION, MARGIN, BEFORE, AFTER),
}


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


def kind_of(name, base, arguments):
    """What a def is for the reference; None if it does not appear there."""
    if base == "MtcPass":
        return "pass"
    if re.search(r"I\d+(Bit)?EnumAttr$", base):
        return "enum"
    if base in ("AttrDef", "TypeDef"):
        return "attribute" if base == "AttrDef" else "type"
    return "op" if name.endswith("Op") or base.endswith("Op") else None


def entries(content):
    """(kind, name, text) of every def: the text goes to the next definition."""
    starts = [found.start() for found in re.finditer(r"^(?:def|class) ", content,
                                                     re.MULTILINE)]
    for found in ENTRY.finditer(content):
        end = min((start for start in starts if start > found.start()),
                  default=len(content))
        kind = kind_of(*found.groups())
        entry = content[found.start():end]
        if kind == "enum" and entry.count("EnumAttrCase<") < 2:
            continue  # one case: its summary says it
        if kind:
            mnemonic = re.search(r"\"([\w.-]+)\"", found[3])
            yield kind, mnemonic[1] if mnemonic else found[1], entry


def check_texts(root, paths):
    number = 0
    for path in paths:
        if path.suffix != ".td":
            continue
        for kind, name, entry in entries(tree.text(root / path)):
            number += kind == "op"
            for what, pattern in WANTED[kind]:
                if not re.search(pattern, entry, re.MULTILINE):
                    yield f"{path}: {kind} {name}: expected {what}, found none"
    if not number:
        yield "dialects: expected definitions of ops, found none"


def check(root):
    paths = tree.files(root)
    yield from check_passes(root, paths)
    yield from check_texts(root, paths)


if __name__ == "__main__":
    tree.main(check, "pass = flag = file; what the reference shows says what it is, with an example")
