#!/usr/bin/env python3
"""C++ is formatted as .clang-format says, by the version that tools/setup installs."""

import shutil
import subprocess

import tree

# Other versions break lines elsewhere.
TOOL = "clang-format-14"
SUFFIXES = (".h", ".cpp", ".cu", ".cuh")


def check(root):
    if not shutil.which(TOOL):
        yield f"expected {TOOL}, found none; run tools/setup"
        return
    files = [str(path) for path in tree.files(root) if path.suffix in SUFFIXES]
    result = subprocess.run([TOOL, "--dry-run", *files], cwd=root, capture_output=True,
                            text=True)
    wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines()
                    if " warning: " in line})
    for path in wrong:
        yield f"{path}: expected the format of {TOOL}, found another; run {TOOL} -i {path}"
    if result.returncode and not wrong:
        yield f"{TOOL} failed: {result.stderr.strip()}"


if __name__ == "__main__":
    tree.main(check, "C++ has the format of .clang-format")
