"""PTX that is checked in: whether its source makes it, and what leaving out lines of it does."""

import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


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
