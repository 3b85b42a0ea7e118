#!/usr/bin/env python3
"""tools/setup --cuda names what is here, and what brings the rest.

usage: test_parts.py SOURCE
"""

import os
import pathlib
import subprocess
import sys
import tempfile

# Each part, where a folder has it, and the wheel that brings it.
PARTS = {"libcublasLt.so.13": ("lib", "nvidia-cublas"), "libnccl.so.2": ("lib", "nvidia-nccl-cu13"),
         "cuda.h": ("include", "nvidia-cuda-runtime"), "cublasLt.h": ("include", "nvidia-cublas"),
         "nccl.h": ("include", "nvidia-nccl-cu13"), "ptxas": ("bin", "nvidia-cuda-nvcc"),
         "nvcc": ("bin", "nvidia-cuda-nvcc")}


def say(home):
    """With a PATH of nothing but the system's tools."""
    done = subprocess.run([os.path.join(sys.argv[1], "tools/setup"), "--cuda"], capture_output=True,
                          text=True, env={"PATH": "/usr/bin:/bin", "CUDA_HOME": home})
    if done.returncode != 0:
        sys.exit(f"expected exit 0, found {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        none = say(folder).splitlines()
        for part, (_, wheel) in PARTS.items():
            at = next((i for i, line in enumerate(none) if line.startswith(part + ": ")), None)
            # A machine's own packages may have it.
            if at is None or "not here. For " in none[at] and f"wheel {wheel}==" not in none[at + 1]:
                wrong.append(f"without {part}: found {none}")
        for part, (inner, _) in PARTS.items():
            path = pathlib.Path(folder, inner, part)
            path.parent.mkdir(exist_ok=True)
            path.touch(mode=0o755)
        everything = say(folder).splitlines()
        for part in PARTS:
            if not any(line.startswith(part + ": /") for line in everything):
                wrong.append(f"with {part}: found {everything}")
        if len(list(pathlib.Path(folder).rglob("*"))) != 3 + len(PARTS):
            wrong.append("expected nothing to be installed")
    print("\n".join(wrong) or f"{len(PARTS)} parts")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
