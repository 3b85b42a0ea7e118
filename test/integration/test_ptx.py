#!/usr/bin/env python3
"""Kernels compile for a GPU.

Compiles a small model for sm_90 up to its kernels: one PTX file a stage, one
entry a kernel of the plan, no call of a function that is not there, the same
bytes twice, and text that ptxas takes where it is installed. For several
architectures there is a file of each, with one list of launches, and with
--cubin what ptxas makes of it. Whatever would have to run on a GPU is rejected.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import precision
from run_layout import Report

STAGES = 2
CHIPS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"]
# In place of ptxas: the first entry has values in local memory however few blocks it asks for, the
# second until it asks for fewer.
SPILLING = """#!/bin/sh
exec awk '
/\\.entry/ { split($3, words, "("); name = words[1]; ++entries; blocks = 0 }
/^\\.minnctapersm/ { blocks = 1 }
/^[{]/ {
  spills = entries == 1 || (entries == 2 && !blocks) ? 8 : 0
  printf "Compiling entry function \\047%s\\047\\n", name
  printf "%d bytes stack frame, %d bytes spill stores\\nUsed 40 registers\\n", spills, spills
}
END { print "cubin" > "/dev/fd/3" }'
"""
SPEC = ["gpt2-nano", "--tp", "2", "--pp", str(STAGES), "--mbs", "2", "--gbs", "8"]


def compile_spec(mtc, *options):
    return subprocess.run([mtc, "compile", *SPEC, *options], capture_output=True, text=True)


def kernels_of_plan(path):
    """The kernels' names of each program, in order of the stages."""
    with open(path) as file:
        programs = re.split(r"^  rt\.program @\w+ stage ", file.read(), flags=re.M)[1:]
    programs.sort(key=lambda text: int(text.split()[0]))
    # Those of the tensor form stand deeper: code is made of the others.
    return [re.findall(r"^    rt\.kernel @(\w+)", text, flags=re.M) for text in programs]


def text_problems(name, ptx, kernels):
    """What is wrong with one PTX file, as sentences."""
    # Sums over rows have entries of their own, beside that of the rest.
    entries = [name for name in re.findall(r"\.entry (\w+)", ptx) if not name.endswith(("_sum", "_owners"))]
    if not kernels:
        yield f"{name}: expected kernels in the plan, found none"
    if sorted(entries) != sorted(kernels):
        odd = sorted(set(entries) ^ set(kernels))
        yield f"{name}: expected {len(kernels)} entries, one a kernel, found {len(entries)}; odd ones: {odd}"
    if ".extern .func" in ptx:
        yield f"{name}: expected no external function, found one"
    if not re.search(r"^\.target sm_90\b", ptx, flags=re.M):
        yield f"{name}: expected .target sm_90"


def launch_problems(path, ptx, kernels):
    """Launches that are not those of the PTX."""
    name = os.path.basename(path)
    with open(path) as file:
        launches = json.load(file)["kernels"]
    if [launch["kernel"] for launch in launches] != kernels:
        yield f"{name}: expected a launch of every kernel, in their order"
    threads = {found: int(count) for found, count in
               re.findall(r"\.entry (\w+)\(.*?\)\s*\.reqntid (\d+)", ptx, flags=re.S)}
    planned = {entry["name"]: entry["threads"] for launch in launches for entry in launch["entries"]}
    if threads != planned:
        yield f"{name}: expected .reqntid of every entry to be its threads, found {threads} and {planned}"


def access_problems(name, ptx):
    """Kernels of planned operands that touch single elements only."""
    bodies = re.findall(r"\.entry (\w+)\(.*?\n\{(.*?)\n\}", ptx, flags=re.S)
    # Sums of parts have a column a thread.
    narrow = [entry for entry, body in bodies
              if not re.search(r"[.]global[.]v[24][.]b(32|64)", body) and not entry.endswith("_sum")]
    if narrow:
        yield f"{name}: expected accesses of 8 or 16 bytes in all kernels, found none in {narrow}"


def assembler():
    """The path of ptxas, or None."""
    places = os.environ.get("PATH", "") + os.pathsep + "/usr/local/cuda/bin"
    return shutil.which("ptxas", path=places)


def assembly_problems(ptxas, path, folder):
    done = subprocess.run([ptxas, "-arch=sm_90", path, "-o", os.path.join(folder, "cubin")],
                          capture_output=True, text=True)
    if done.returncode != 0:
        yield f"{os.path.basename(path)}: ptxas rejected it: {done.stderr.strip()[:500]}"


def rejections(mtc, folder):
    """A GPU target is rejected before it costs time, and leaves nothing behind."""
    out = os.path.join(folder, "rejected")
    for options, code, words in (
            (["--target=cuda:sm_90", "--set", "model.hidden=1056", "-o", out], 4, "found f32 with 264"),
            (["--target=cuda:sm_90", "--set", "model.hidden=48", "--dtype=fp16", "-o", out], 4, "found fp16 with 12"),
            (["--target=cuda:sm_90", "--compile-to=lower-to-llvm", "-o", out], 4, "--compile-to=kernels"),
            (["--target=cuda:sm_90", "--compile-to=kernels"], 2, "expected -o DIR"),
            (["--target=cpu", "--cubin", "-o", out], 2, "--cubin: expected code for GPUs"),
            (["--target=cuda:sm_75,sm_90,gpu,sm_90", "-o", out], 2, "did you mean 'sm_80' by 'sm_75'?, where 'gpu' is no "
             "architecture, with 'sm_90' twice"),
            (["--target=cuda:sm90", "--compile-to=kernels", "-o", out], 2, "did you mean 'sm_90' by 'sm90'?")):
        done = compile_spec(mtc, *options)
        if done.returncode != code or words not in done.stderr:
            yield f"{options}: expected exit {code} and '{words}', found {done.returncode}: {done.stderr.strip()}"
        if os.path.exists(out):
            yield f"{options}: expected no output, found {os.listdir(folder)}"


def several(mtc, folder, ptxas):
    """A file for each architecture, of the text that one alone has; cubins where they are asked for."""
    out, one = os.path.join(folder, "several"), os.path.join(folder, "one")
    options = [*precision.options("bf16"), "--compile-to=kernels", "-o"]
    cubin = ["--cubin"] if ptxas else []
    target = "--target=cuda:" + ",".join(reversed(CHIPS))
    for done in (compile_spec(mtc, target, *cubin, *options, out), compile_spec(mtc, "--target=cuda:sm_120", *options, one)):
        if done.returncode != 0:
            yield f"{target}: expected exit 0, found {done.returncode}: {done.stderr.strip()}"
            return
    endings = ["ptx", "cubin"] if ptxas else ["ptx"]
    expected = sorted([f"stage{stage}.{chip}.{ending}" for stage in range(STAGES) for chip in CHIPS for ending in endings]
                      + [f"stage{stage}.launches.json" for stage in range(STAGES)] + ["report.json", "report.txt"])
    if sorted(os.listdir(out)) != expected:
        yield f"{target}: expected {expected}, found {sorted(os.listdir(out))}"
        return
    for stage in range(STAGES):
        for name, other in ((f"stage{stage}.sm_120.ptx", f"stage{stage}.ptx"), (f"stage{stage}.launches.json",) * 2):
            with open(os.path.join(out, name)) as first, open(os.path.join(one, other)) as second:
                if first.read() != second.read():
                    yield f"{name}: expected what a compilation for sm_120 alone writes"
        for chip in CHIPS:
            with open(os.path.join(out, f"stage{stage}.{chip}.ptx")) as file:
                if not re.search(rf"^\.target {chip}$", file.read(), flags=re.M):
                    yield f"stage{stage}.{chip}.ptx: expected .target {chip}"
    for name in (name for name in os.listdir(out) if name.endswith(".cubin")):
        with open(os.path.join(out, name), "rb") as file:
            head = file.read(64)
        # e_flags of an ELF file for CUDA (190): ptxas of 13.0 has the architecture in the second byte.
        chip = int(name.split("_")[1].split(".")[0].rstrip("a"))
        if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") != 190 or head[49] != chip:
            yield f"{name}: expected an ELF file of CUDA for {chip}, found {head.hex()}"
    with open(os.path.join(out, "report.txt")) as file:
        said = next(line for line in file if line.startswith("code "))
    if not all(chip in said for chip in CHIPS) or ("PTX and cubins" in said) != bool(ptxas):
        yield f"expected the architectures in the report, and whether ptxas looked, found {said}"


def without_ptxas(mtc, folder):
    """Who asks for cubins and has no ptxas is told so; who does not is told that nobody looked."""
    out = os.path.join(folder, "nobody")
    bare = dict(os.environ, PATH="", CUDA_HOME=folder)
    for options, code, words in ((["--cubin"], 4, "--cubin: expected ptxas of the CUDA toolkit"), ([], 0, "")):
        done = subprocess.run([mtc, "compile", *SPEC, "--target=cuda:sm_90", *options, "--compile-to=kernels", "-o", out],
                              capture_output=True, text=True, env=bare)
        if done.returncode != code or words not in done.stderr:
            yield f"{options} without ptxas: expected exit {code} and '{words}', found {done.returncode}: {done.stderr}"
    with open(os.path.join(out, "report.txt")) as file:
        if "ptxas did not look at it" not in file.read():
            yield "without ptxas: expected to be told in the report that it did not look"


def spilling(mtc, folder):
    """An entry that spills asks for fewer blocks, in PTX as in the cubin, and one that nothing helps is told."""
    out, tools = os.path.join(folder, "spilling"), os.path.join(folder, "tools")
    os.mkdir(tools)
    with open(os.path.join(tools, "ptxas"), "w") as file:
        file.write(SPILLING)
    os.chmod(file.name, 0o700)
    done = subprocess.run([mtc, "compile", *SPEC, "--target=cuda:sm_90", "--cubin", "--compile-to=kernels", "-o", out],
                          capture_output=True, text=True,
                          env=dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"]))
    if done.returncode != 0:
        yield f"a ptxas that spills: expected exit 0, found {done.returncode}: {done.stderr.strip()}"
        return
    expected = []
    for stage in range(STAGES):
        with open(os.path.join(out, f"stage{stage}.ptx")) as file:
            entries = re.findall(r"\.entry (\w+)\(.*?\)\n(.*?)\{", file.read(), flags=re.S)
        asking = [name for name, head in entries if ".minnctapersm" in head]
        if asking != [entries[1][0]]:
            yield f"stage {stage}: expected {entries[1][0]} to ask for fewer blocks, found {asking}"
        expected.append({"stage": stage, "chip": "sm_90", "entry": entries[0][0], "bytes_of_a_thread": 8})
    with open(os.path.join(out, "report.json")) as file:
        found = json.load(file)["code"]["local_memory"]
    if found != expected:
        yield f"a ptxas that spills: expected to be told {expected}, found {found}"
    with open(os.path.join(out, "report.txt")) as file:
        told = re.findall(r"^warning: (\w+) of stage (\d+) keeps 8 bytes of a thread in local memory on sm_90$",
                          file.read(), flags=re.M)
    if told != [(row["entry"], str(row["stage"])) for row in expected]:
        yield f"a ptxas that spills: expected a warning of each, found {told}"


def compiled(mtc, folder, ptxas, dtype):
    """Problems of what a compilation for sm_90 writes."""
    out, again, ir = (os.path.join(folder, name + dtype) for name in ("ptx", "again", "ir"))
    for place in (out, again):
        done = compile_spec(mtc, "--target=cuda:sm_90", *precision.options(dtype),
                            "--compile-to=kernels", "--save-ir", ir, "-o", place)
        if done.returncode != 0:
            yield f"expected exit 0, found {done.returncode}: {done.stderr.strip()}"
            return
    names = [f"stage{stage}.ptx" for stage in range(STAGES)]
    files = sorted(names + [name.replace(".ptx", ".launches.json") for name in names]
                   + ["report.json", "report.txt"])
    if sorted(os.listdir(out)) != files:
        yield f"expected {files}, found {sorted(os.listdir(out))}"
        return
    plan = next(name for name in os.listdir(ir) if name.endswith("verify-plan.mlir"))
    for name, kernels in zip(names, kernels_of_plan(os.path.join(ir, plan))):
        path = os.path.join(out, name)
        with open(path) as first, open(os.path.join(again, name)) as second:
            ptx = first.read()
            if ptx != second.read():
                yield f"{name}: expected the same bytes twice"
        yield from text_problems(name, ptx, kernels)
        yield from access_problems(f"{name} in {dtype}", ptx)
        yield from launch_problems(path.replace(".ptx", ".launches.json"), ptx, kernels)
        if ptxas:
            yield from assembly_problems(ptxas, path, folder)
        rounds = re.search(r"cvt\.rn\.(bf16|f16)", ptx)
        if {"f32": None, "bf16": "bf16", "fp16": "f16"}[dtype] != (rounds and rounds[1]):
            yield f"{name} in {dtype}: expected roundings to this type only"
        print(f"{name} in {dtype}: {len(kernels)} kernels")


def bundle_problems(mtc, folder):
    """What is said of a bundle: its GPU, and a workspace for the kernel that needs most."""
    ptx, bundle = os.path.join(folder, "ptx-bf16"), os.path.join(folder, "bundle")
    options = ["--target=cuda:sm_90", *precision.options("bf16")]
    for more in (["--compile-to=kernels", "-o", ptx], ["-o", bundle]):
        done = compile_spec(mtc, *options, *more)
        if done.returncode != 0:
            yield f"{more}: expected exit 0, found {done.returncode}: {done.stderr.strip()}"
            return
    with open(os.path.join(bundle, "report.json")) as file:
        report = json.load(file)
    if report["device"] != "cuda:sm_90" or report["comm_thread"]:
        yield f"expected the device cuda:sm_90 without a thread of collectives, found {report['device']}"
    for stage in report["stages"]:
        with open(os.path.join(ptx, f"stage{stage['stage']}.launches.json")) as file:
            most = max(kernel["workspace_bytes"] for kernel in json.load(file)["kernels"])
        memory = dict(stage["memory"])
        total = memory.pop("total")
        if memory.get("kernels") != most or most == 0 or total != sum(memory.values()):
            yield f"stage {stage['stage']}: expected {most} bytes for kernels in the memory of a rank, found {stage['memory']}"
    limit = max(stage["memory"]["total"] + stage["beside_plan"]["total"] for stage in report["stages"])
    for bytes_, code in ((limit, 0), (limit - 1, 4)):
        done = compile_spec(mtc, *options, "--device-memory", str(bytes_), "-o", os.path.join(folder, f"limited{code}"))
        if done.returncode != code:
            yield f"--device-memory {bytes_} of {limit}: expected exit {code}, found {done.returncode}: {done.stderr.strip()}"
    said = subprocess.run([mtc, "inspect", bundle, "--requires"], capture_output=True, text=True).stdout
    if "a GPU of sm_90 or newer" not in said or "libcublasLt.so.13" not in said:
        yield f"inspect --requires: expected the GPU and its libraries, found {said}"


def main():
    mtc, report = os.path.join(sys.argv[1], "mtc"), Report()
    ptxas = assembler()
    print(f"assembled with {ptxas}" if ptxas else "ptxas is not installed: only the text is checked")
    with tempfile.TemporaryDirectory() as folder:
        report.expect_none(rejections(mtc, folder))
        report.expect_none(bundle_problems(mtc, folder))
        report.expect_none(several(mtc, folder, ptxas))
        report.expect_none(without_ptxas(mtc, folder))
        report.expect_none(spilling(mtc, folder))
        for dtype in ("f32", "bf16", "fp16"):
            report.expect_none(compiled(mtc, folder, ptxas, dtype))
    return report.finish("ptx")


if __name__ == "__main__":
    sys.exit(main())
