#!/usr/bin/env python3
"""A compiled program needs no compiler: neither it nor the runtime's archives load
or refer to MLIR, LLVM or Python; a test of passes loads and the compiler's archive refers to
them (or this test could not fail). What it needs is what `mtc inspect --requires` says, and few libraries beside oneDNN's own. Each of its kernels
has vectors, and of the runtime's kernels it has those of its instruction set and types alone,
or of its chips, types and heads."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1])
HEAVY = re.compile(r"MLIR|LLVM|libpython|libclang", re.IGNORECASE)
# Mangled names of the namespaces mlir and llvm, and the C interfaces.
# What the product library loads anyway, and the library itself.
WANTED = re.compile(r"(libc|libm|libgcc_s|libstdc\+\+|libgomp|libdnnl|ld-linux-x86-64)\.so")
KERNEL = re.compile(r"^[0-9a-f]+ <(kernel\d+)>:\n((?:.+\n)*)", re.MULTILINE)
SET = re.compile(r" [A-Z] mtc_(kernels|products|gpu_text)_(\w+)")
TEXT = re.compile(r" r mtc_ptx_((?:norm|gemm_|attention_)\w*)")  # which a set of a GPU names
# Of a plan: model and options, and the sets of kernels that it calls, of a GPU texts of PTX.
SETS = [
    (["gpt2-nano", "--isa", "x86-64-v3"], {"kernels x86_64_v3", "products x86_64_v3_f32"}),
    (["gpt2-nano", "--isa", "x86-64-v4", "--dtype", "bf16"],
     {"kernels x86_64_v4", "products x86_64_v4_bf16"}),
    (["gpt2-nano", "--isa", "x86-64-v4-bf16", "--dtype", "fp16"],
     {"kernels x86_64_v4_bf16", "products x86_64_v4_bf16_fp16"}),
    (["gpt2-nano", "--isa", "x86-64-v4-amx"],
     {"kernels x86_64_v4_amx", "products x86_64_v4_amx_f32"}),
    (["gpt2-nano", "--isa", "x86-64-v4-amx", "--dtype", "bf16"],
     {"kernels x86_64_v4_amx", "products x86_64_v4_amx_bf16"}),
    (["gpt2-nano", "--target", "cuda:sm_90"],
     {"gpu_text norm", "gpu_text gemm_f32", "gpu_text attention_f32_d32"}),
    (["gpt2-124m", "--target", "cuda:sm_80,sm_90a", "--dtype", "bf16"],
     {"gpu_text norm", "gpu_text gemm_bf16", "gpu_text attention_bf16_d64",
      "gpu_text attention_bf16_d64_sm_90a"}),
]
TILES = "tdpbf16ps"  # what a product of AMX is made of
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
    archives = sorted((BUILD / "lib" / "mtc" / "link").glob("libmtc_*.a"))
    if not archives:
        yield "expected archives of the runtime, found none"
    for archive in archives:
        for found in set(SYMBOL.findall(output("nm", "--undefined-only", archive))):
            yield f"{archive.name} refers to {found}"
    if not any(HEAVY.search(line) for line in libraries(BUILD / "test" / "verify_test")):
        yield "expected verify_test to load LLVM, found that it does not"
    has_archives = sys.argv[2] == "ON"
    for name in ("mtc", "mtc-opt"):
        if any(HEAVY.search(line) for line in libraries(BUILD / "bin" / name)) == has_archives:
            yield f"expected {name} to have LLVM {'in itself' if has_archives else 'as a library'}, found otherwise"
    if not SYMBOL.search(output("nm", "--undefined-only", BUILD / "compiler" / "libmtc_compiler.a")):
        yield "expected the compiler's archive to refer to LLVM, found that it does not"


def needed(program):
    """Libraries with their versions, from binutils."""
    found = {name: set() for name in re.findall(r"NEEDED.*\[(.*)\]",
                                                output("readelf", "-d", "-W", program))}
    for line in output("readelf", "-V", "-W", program).splitlines():
        if file := re.search(r"Version:.* File: (\S+)", line):
            versions = found[file[1]]
        elif name := re.search(r"Name: (\S+) .*Version:", line):
            versions.add(name[1])
    return found


def number(version):
    """GLIBC_2.34 -> GLIBC, [2, 34]"""
    words, _, digits = version.rpartition("_")
    return words, [int(part) for part in digits.split(".")]


def misses(said, program):
    """What a program needs that is not said of it, and the reverse."""
    wanted = needed(program)
    if set(said) != set(wanted):
        yield f"{program.name}: expected {sorted(wanted)}, found {sorted(said)}"
    for library, versions in said.items():
        highest = {}
        for version in wanted.get(library, ()):
            words, digits = number(version)
            highest[words] = max(highest.get(words, []), digits)
        if dict(map(number, versions)) != highest:
            yield f"{program.name}, {library}: expected {highest}, found {versions}"
        if not WANTED.match(library):
            yield f"{program.name} loads {library}"


def requirements(path):
    text = output(BUILD / "bin" / "mtc", "inspect", path, "--requires", "--json")
    said = json.loads(text)
    return said, {it["name"]: it["versions"] for it in said["libraries"]}


def wrong_requirements(bundle):
    all_said, libraries = requirements(bundle)
    for program in sorted((bundle / "programs").iterdir()):
        said, own = requirements(program)
        yield from misses(own, program)
        if program.suffix != ".so" and not set(own) <= set(libraries):
            yield f"expected {sorted(own)} of the bundle, too, found {sorted(libraries)}"
    manifest = json.loads(output(BUILD / "bin" / "mtc", "inspect", bundle, "--json"))
    descriptor = json.loads(output(BUILD / "bin" / "mtc", "inspect", "--json",
                                   bundle / "programs" / "stage0"))
    if all_said["processor"] != descriptor["isa"] or \
            all_said["onednn"] != (descriptor["onednn"] or None) or \
            all_said["kernel"] != "3.17":
        yield f"expected what the descriptor says, found {all_said}"
    text = output(BUILD / "bin" / "mtc", "inspect", bundle)
    for program in manifest["programs"]:
        if f"stage {program['stage']}: " not in text or program["executable"] not in text:
            yield f"expected stage {program['stage']} in\n{text}"


def without_vectors(bundle):
    """Kernels that use no register of the widest vectors that their processor has."""
    isa = json.loads(output(BUILD / "bin" / "mtc", "inspect", "--json",
                            bundle / "programs" / "stage0"))["isa"]
    register = "%zmm" if isa.startswith("x86-64-v4") else "%ymm"
    kernels = 0
    for program in sorted((bundle / "programs").glob("*.so")):
        code = output("objdump", "-d", "--no-show-raw-insn", program)
        for name, body in KERNEL.findall(code):
            kernels += 1
            if register not in body:
                yield f"{program.name}: expected {register} in {name} of {isa}, found none"
    if kernels < 20:
        yield f"expected more than 20 kernels, found {kernels}"


def other_kernels(folder):
    """Kernels of the runtime that a plan does not call, or lacks."""
    for options, wanted in SETS:
        bundle = folder / "-".join(options).replace(":", "-")
        output(BUILD / "bin" / "mtc", "compile", *options, "--gbs", 4, "-o", bundle)
        program = bundle / "programs" / "stage0"
        symbols = output("nm", program)
        found = {f"{kind} {name}" for kind, name in SET.findall(symbols)}
        texts = {f"gpu_text {name}" for name in TEXT.findall(symbols)}
        if texts != {name for name in wanted if name.startswith("gpu_text")}:
            yield f"{' '.join(options)}: expected the texts of {sorted(wanted)}, found {sorted(texts)}"
        if found != wanted:
            yield f"{' '.join(options)}: expected the sets {sorted(wanted)}, found {sorted(found)}"
        has_tiles = TILES in output("objdump", "-d", "--no-show-raw-insn", program)
        if has_tiles != any("amx_bf16" in name for name in wanted):
            yield f"{' '.join(options)}: expected {TILES} where products are by tiles alone"


def main():
    with tempfile.TemporaryDirectory() as folder:
        bundle = pathlib.Path(folder) / "nano"
        output(BUILD / "bin" / "mtc", "compile", "gpt2-nano", "--pp", 2, "--gbs", 16,
               "-o", bundle)
        found = [*problems(bundle), *wrong_requirements(bundle), *without_vectors(bundle),
                 *other_kernels(pathlib.Path(folder))]
        print("\n".join(found) or output("ldd", bundle / "programs" / "stage0"))
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
