#!/usr/bin/env python3
"""The pages of docs/ say what is so.

  contracts.md   every test that it names exists
  one-weight.md  every snippet of IR or machine code is in a fresh compilation
  all pages      every link within the repository leads to a file, and to a heading of it

usage: test_docs.py BIN_DIR SOURCE_DIR
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from run_layout import Report


def read(path):
    with open(path) as file:
        return file.read()


def known_tests(source):
    """Names of ctest entries and of GoogleTest cases, from the sources."""
    names = set()
    for path in glob.glob(os.path.join(source, "test/**/*"), recursive=True):
        if path.endswith(".cpp"):
            names |= {f"{suite}.{case}" for suite, case in re.findall(
                r"\b(?:TYPED_)?TEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\s*\)", read(path))}
        elif path.endswith("CMakeLists.txt"):
            names |= set(re.findall(
                r"(?:mtc_test|mtc_integration_test|mtc_ranks_test|mtc_mutation_test|mtc_gpu_test|mtc_gpu_ranks_test|add_test)\((?:NAME )?(\w+)",
                read(path)))
    return names


def check_contracts(source):
    page = read(os.path.join(source, "docs/contracts.md"))
    tests = known_tests(source)
    named = 0
    for row in page.splitlines():
        if not row.startswith("| "):
            continue
        cells = [cell.strip() for cell in row.split("|")]
        states = {"holds", "partly", "not yet"} & set(cells)
        if "state" in cells:
            continue
        if len(states) != 1:
            yield f"expected one of holds, partly, not yet, found none: {row}"
            continue
        shown = cells[cells.index(states.pop()) + 1]
        words = re.findall(r"`([^`]+)`", shown)
        if "| holds |" in row and not words:
            yield f"expected a test beside 'holds', found none: {row}"
        for word in words:
            named += 1
            path = "test/" + word if word.startswith("lit/") else word
            if word not in tests and not os.path.exists(os.path.join(source, path)) \
                    and not word.startswith(("shm", "threads")):
                yield f"expected a test named '{word}', found none"
    if named < 50:
        yield f"expected the page to name tests, found {named}"


def anchors(path):
    """Of the headings of a page, as GitHub names them."""
    text = re.sub(r"^```.*?^```$", "", read(path), flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def check_links(source):
    pages = [os.path.join(source, name) for name in ("README.md", "CONTRIBUTING.md")]
    pages += glob.glob(os.path.join(source, "docs/**/*.md"), recursive=True)
    checked = 0
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
            path, _, anchor = link.partition("#")
            if "://" in link:
                continue
            checked += 1
            file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(file):
                yield f"{os.path.relpath(page, source)}: expected a file at {link}, found none"
            elif anchor and anchor not in anchors(file):
                yield f"{os.path.relpath(page, source)}: expected a heading at {link}, found none"
    if checked < 50:
        yield f"expected links to check, found {checked}"


def compiled(folder, mtc, options):
    """Saved IR by file name, and the disassembly of stage 0."""
    ir, out = os.path.join(folder, "ir"), os.path.join(folder, "out")
    subprocess.run([mtc, "compile", *options, "--save-ir", ir, "-o", out], check=True,
                   stdout=subprocess.DEVNULL)
    texts = {name: read(os.path.join(ir, name)) for name in os.listdir(ir)}
    texts["objdump"] = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", os.path.join(out, "programs/stage0")],
        check=True, capture_output=True, text=True).stdout
    return texts


def plain(line):
    """A line without names of values and registers, addresses and spacing."""
    line = re.sub(r"^ *[0-9a-f]+:\t?", "", line)
    line = re.sub(r"\b[0-9a-f]+ <", "<", line)
    return " ".join(re.sub(r"%\w+", "%", line).split())


def missing(block, text):
    """The first line of a snippet that is not in the text after the ones before it,
    or none. Dots stand for what the page leaves out."""
    rest = iter([plain(line) for line in text.splitlines()])
    for line in filter(str.strip, block.splitlines()):
        parts = [re.escape(part.strip()) for part in plain(line).split("...")]
        pattern = re.compile(".*".join(parts))
        if not any(pattern.search(other) for other in rest):
            return line.strip()
    return None


def check_one_weight(source, mtc):
    """Snippets are fenced blocks with the name of a file after the language."""
    page = read(os.path.join(source, "docs/one-weight.md"))
    command = re.search(r"^mtc compile (.*) --save-ir ir -o out$", page, re.MULTILINE)
    if not command:
        yield "expected the command of the page, found none"
        return
    checked = 0
    with tempfile.TemporaryDirectory() as folder:
        texts = compiled(folder, mtc, command.group(1).split())
        for name, block in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page,
                                      re.MULTILINE | re.DOTALL):
            if name not in texts:
                yield f"expected a file {name} among {sorted(texts)}"
                continue
            checked += len(block.splitlines())
            if line := missing(block, texts[name]):
                yield f"one-weight.md: not in a fresh {name}, in this order: {line}"
    if checked < 20:
        yield f"expected at least 20 lines to check, found {checked}"


def main():
    mtc, source = os.path.join(sys.argv[1], "mtc"), sys.argv[2]
    report = Report()
    report.expect_none(check_contracts(source))
    report.expect_none(check_links(source))
    report.expect_none(check_one_weight(source, mtc))
    return report.finish("docs")


if __name__ == "__main__":
    sys.exit(main())
