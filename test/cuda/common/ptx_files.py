"""PTX that is checked in: whether its source makes it, and what leaving out lines of it does.

    ptx_files.py SOURCE

is the first, of the files in SOURCE/ptx.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile


WAITS = re.compile(r"^(bar\.sync|bar\.warp\.sync|cp\.async\.wait_group|cp\.async\.commit_group)")


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def waits_of(lines, kernel):
    """The lines of a kernel that wait, by number from 0."""
    first = next(i for i, line in enumerate(lines) if line.startswith(f".visible .entry {kernel}("))
    end = next((i for i in range(first + 1, len(lines)) if lines[i].startswith(".visible .entry")), len(lines))
    return [i for i in range(first, end) if WAITS.match(lines[i])]


def check_plants(ptx, name, kernel, is_right):
    """Every wait of a kernel, left out, is noticed: is_right(folder) is false then."""
    with open(os.path.join(ptx, name)) as file:
        lines = file.read().split("\n")
    waits, missed = waits_of(lines, kernel), []
    for i in waits:
        with tempfile.TemporaryDirectory() as folder:
            for other in os.listdir(ptx):
                os.symlink(os.path.abspath(os.path.join(ptx, other)), os.path.join(folder, other))
            os.remove(os.path.join(folder, name))
            with open(os.path.join(folder, name), "w") as file:
                file.write("\n".join(lines[:i] + lines[i + 1:]))
            if is_right(folder):
                missed.append(f"line {i + 1}: {lines[i]}")
    print(f"{len(waits) - len(missed)} of {len(waits)} waits of {kernel} that were left out are noticed")
    if missed or not waits:
        sys.exit("not noticed:\n" + "\n".join(missed))


def check_made_again(source, ptx):
    """Where nvcc has the version that the files name, make_ptx.sh makes the same files."""
    names = sorted(os.listdir(ptx))
    with open(os.path.join(ptx, names[0])) as file:
        made_with = re.search(r"nvcc (\S+);", file.readline()).group(1)
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(nvcc) or f"V{made_with}" not in run([nvcc, "--version"]).stdout:
        print(f"not made again: that takes nvcc {made_with}")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = run([os.path.join(source, "make_ptx.sh"), folder])
        if done.returncode != 0:
            sys.exit(done.stderr)
        if sorted(os.listdir(folder)) != names:
            sys.exit(f"expected the files {sorted(os.listdir(folder))}, found {names}")
        for name in names:
            with open(os.path.join(folder, name)) as new, open(os.path.join(ptx, name)) as old:
                if new.read() != old.read():
                    sys.exit(f"{name} is not what its source makes; run make_ptx.sh")
    print(f"{len(names)} files are what their source makes")


if __name__ == "__main__":
    check_made_again(sys.argv[1], os.path.join(sys.argv[1], "ptx"))
