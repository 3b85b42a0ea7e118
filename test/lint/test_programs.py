#!/usr/bin/env python3
"""A compiled program needs no compiler: neither it nor the runtime's archives load
or refer to MLIR, LLVM or Python; mtc itself does (or this test could not fail)."""

import pathlib
import re
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1])
HEAVY = re.compile(r"MLIR|LLVM|libpython|libclang", re.IGNORECASE)
# Mangled names of the namespaces mlir and llvm, and the C interfaces.
SYMBOL = re.compile(r"\bU (?:_ZN?K?\w*(?:4mlir|4llvm)\w*|LLVM\w+|mlir[A-Z]\w+|Py_?\w+)")


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, text=True,
                          capture_output=True).stdout


def libraries(program):
    return [line.strip() for line in output("ldd", program).splitlines()]


def problems(bundle):
    programs = sorted((bundle / "programs").iterdir())
    if not programs:
        yield "expected programs in the bundle, found none"
    for program in programs:
        for line in libraries(program):
            if HEAVY.search(line):
                yield f"{program.name} loads {line}"
    archives = sorted((BUILD / "lib").glob("libmtc_*.a"))
    if not archives:
        yield "expected archives of the runtime, found none"
    for archive in archives:
        for found in set(SYMBOL.findall(output("nm", "--undefined-only", archive))):
            yield f"{archive.name} refers to {found}"
    if not any(HEAVY.search(line) for line in libraries(BUILD / "bin" / "mtc")):
        yield "expected mtc itself to load LLVM, found that it does not"


def main():
    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder) / "nano"
        output(BUILD / "bin" / "mtc", "compile", "gpt2-nano", "--pp", 2, "--gbs", 16,
               "-o", bundle)
        found = list(problems(bundle))
        print("\n".join(found) or output("ldd", bundle / "programs" / "stage0"))
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
