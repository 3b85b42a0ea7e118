#!/usr/bin/env python3
"""What mtc doctor says.

usage: test_doctor.py BIN_DIR [STAND_INS]

Without the libraries of a GPU it names each that is missing, what for and what to do, and ends
well: nothing is wrong with such a machine. With them, here the stand-ins, it has the GPU, its
architecture, its memory and the versions. People and programs get the same.
"""

import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "integration"))

import precision
from run_layout import Mtc, Report

LIBRARIES = {"CUDA driver": "libcuda.so.1", "cuBLASLt": "libcublasLt.so.13", "NCCL": "libnccl.so.2"}
ALWAYS = {"processor", "f32, fp16, bf16", "products of bf16", "oneDNN", "MPICH", "Open MPI", *LIBRARIES}


def parts(mtc, report, **environment):
    """By name; the text has the same."""
    os.environ.update(environment)
    found = json.loads(mtc.call("doctor", "--json").stdout)["parts"]
    text = mtc.call("doctor").stdout
    for part in found:
        line = f"^{re.escape(part['name'])} +{'' if part['there'] else 'missing: '}"
        report.expect(re.search(line + re.escape(part["found"]), text, re.MULTILINE)
                      and (part["there"] or f"for {part['serves']}" in text),
                      f"expected the text to say {part}, found {text}")
    report.expect(ALWAYS <= {part["name"] for part in found} and len(text.splitlines())
                  == sum(1 if part["there"] else 2 for part in found),
                  f"expected {sorted(ALWAYS)}, found {text}")
    return {part["name"]: part for part in found}


def check_processor(report, found):
    """What Linux says."""
    flags = {flag: precision.has_flag(flag) for flag in ("avx2", "avx512_bf16")}
    report.expect(found["f32, fp16, bf16"]["there"] == flags["avx2"]
                  and found["products of bf16"]["there"] == flags["avx512_bf16"],
                  f"the processor has {flags}, found {found['f32, fp16, bf16']}, {found['products of bf16']}")
    count = len(os.sched_getaffinity(0))
    report.expect(f", {count} for this process, " in found["processor"]["found"],
                  f"expected {count} processors, found {found['processor']}")


def check_missing(mtc, report, folder):
    for name in LIBRARIES.values():  # no library, whatever this machine has
        open(os.path.join(folder, name), "w").close()
    found = parts(mtc, report, LD_LIBRARY_PATH=folder)
    check_processor(report, found)
    for name, file in LIBRARIES.items():
        part = found[name]
        report.expect(not part["there"] and file in part["found"] and "GPU" in part["serves"],
                      f"without {file}: found {part}")
    report.expect(not any(name.startswith("GPU") for name in found), f"a GPU in {sorted(found)}")


def check_stand_ins(mtc, report, stand_ins):
    found = parts(mtc, report, LD_LIBRARY_PATH=stand_ins)
    gpu = found.get("GPU 0", {}).get("found", "none")
    report.expect(re.search(r"H100.* \(sm_90\), [0-9]+\.[0-9] GiB", gpu), f"found the GPU {gpu}")
    for name in LIBRARIES:
        report.expect(found[name]["there"] and re.search(r"[0-9]+\.[0-9]+", found[name]["found"]),
                      f"expected a version, found {found[name]}")


def check_several(mtc, report):
    """Each GPU, and whose memory it reaches."""
    found = parts(mtc, report, MTC_STANDIN_DEVICES="3", MTC_STANDIN_CAPABILITY="90,90,80")
    gpus = {name: part["found"] for name, part in found.items() if name.startswith("GPU ")}
    ends = {"GPU 0": r"\(sm_90\), [0-9.]+ GiB, reaches GPU 1", "GPU 1": r"\(sm_90\), [0-9.]+ GiB, reaches GPU 0",
            "GPU 2": r"\(sm_80\), [0-9.]+ GiB"}
    report.expect(gpus.keys() == ends.keys() and all(re.search(ends[name] + "$", gpus[name]) for name in ends),
                  f"expected three GPUs, the first two of which reach each other, found {gpus}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        check_missing(mtc, report, folder)
    if len(sys.argv) > 2:
        check_stand_ins(mtc, report, os.path.abspath(sys.argv[2]))
        check_several(mtc, report)
    return report.finish("mtc doctor")


if __name__ == "__main__":
    sys.exit(main())
