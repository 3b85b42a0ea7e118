"""Bundles that are damaged or mixed up, and weights that do not fit."""

import array
import json
import os
import shutil
import stat
import struct

import safetensors
from bad_case import Broken, Case
from digests_of import sign

REJECTD, INFEASIBLE = 3, 4
RUN = ["run", "bad", "--data", "data.bin", "--data-type", "u8", "--steps", 2,
       "--quiet", "--save", "out.safetensors"]
THREADS = [*RUN, "--comm", "threads"]


def copy(place, bundle="two"):
    shutil.copytree(place.path(bundle), place.path("bad"))


def damaged(file, damage, bundle="two"):
    """A copy of a bundle with one file replaced by `damage(its content)`."""
    def make(place):
        copy(place, bundle)
        place.write("bad/" + file, damage(place.read("bad/" + file)))
    return make


def manifest(edit):
    def damage(content):
        fields = json.loads(content)
        edit(fields)
        return json.dumps(fields)
    return damaged("manifest.json", damage)


def removed(file):
    def make(place):
        copy(place)
        os.remove(place.path("bad", file))
    return make


def not_executable(place):
    copy(place)
    os.chmod(place.path("bad/programs/stage1"), stat.S_IRUSR)


def of_another_plan(place):
    """The only program of a bundle comes from a bundle of another size."""
    copy(place, "one")
    shutil.copy(place.path("two/programs/stage0"), place.path("bad/programs/stage0"))


def stages_swapped(place):
    copy(place)
    programs = place.path("bad/programs/")
    os.rename(programs + "stage0", programs + "other")
    os.rename(programs + "stage1", programs + "stage0")
    os.rename(programs + "other", programs + "stage1")


def replaced(old, new):
    """In the descriptor of an executable; texts of one length keep its layout."""
    def damage(content):
        if len(old) != len(new) or old not in content:
            raise Broken(f"expected {old} in the program, and as long a {new}")
        return content.replace(old, new)
    return damage


def half(content):
    return content[:len(content) // 2]


def flipped(content):
    """One bit in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 16]) + content[middle + 1:]


def linked(target):
    """A program that is a link to another place."""
    def make(place):
        copy(place)
        os.rename(place.path("bad/programs/stage1"), place.path(target))
        os.symlink(place.path(target), place.path("bad/programs/stage1"))
    return make


def signed(make):
    """Whoever damages it makes the digests anew: other checks must find it."""
    def both(place):
        make(place)
        sign(place.path("bad"))
    return both


def endless(place):
    """A program with very many libraries, each of which is the next one."""
    content = bytearray(place.read("one/programs/stage0"))
    (table,), (number,) = struct.unpack_from("<Q", content, 0x28), \
        struct.unpack_from("<H", content, 0x3c)
    for section in range(table, table + 64 * number, 64):
        if struct.unpack_from("<I", content, section + 4) == (0x6ffffffe,):
            (libraries,) = struct.unpack_from("<Q", content, section + 24)
            struct.pack_into("<I", content, section + 44, 2 ** 32 - 1)
            struct.pack_into("<I", content, libraries + 12, 0)
    place.write("program", bytes(content))


def case(name, make, says, command=RUN, code=REJECTD):
    return Case("bundle: " + name, command, code, says, signed(make))


def damage(name, file, command=RUN):
    return Case(f"bundle: {name}", command, REJECTD,
                [f"'{file}' is damaged", "expected the digest", "compile it again"],
                damaged(file, flipped))


DAMAGE = [
    damage("a flipped bit in a program", "programs/stage1"),
    damage("a flipped bit in a shared program", "programs/stage0.so", THREADS),
    damage("a flipped bit in a report", "report.json"),
    Case("bundle: a flipped digit in the manifest", RUN, REJECTD,
         ["the manifest is damaged", "'digest'"],
         damaged("manifest.json", lambda c: c.replace(b'"seq": 16', b'"seq": 17'))),
    damage("compare a bundle with a flipped bit", "report.json", ["diff", "two", "bad"]),
    damage("inspect a bundle with a flipped bit", "programs/stage1", ["inspect", "bad"]),
    damage("inspect a program with a flipped bit", "programs/stage1",
           ["inspect", "bad/programs/stage1"]),
    damage("inspect it by another path", "programs/stage1",
           ["inspect", "bad/programs/../programs/./stage1"]),
    Case("bundle: needs that are a list without an end", ["inspect", "--requires", "program"],
         REJECTD, ["'program'", "section .gnu.version_r"], endless),
    Case("bundle: a program that is a link inside of it", RUN, 0, [],
         linked("bad/other"), ("out.safetensors",)),
    Case("bundle: a program that is a link to elsewhere", RUN, REJECTD,
         ["'programs/stage1' is a link that leaves the bundle"], linked("elsewhere")),
    Case("bundle: a program without a digest", RUN, REJECTD,
         ["'programs/stage1' has no digest"],
         manifest(lambda f: (f["files"].pop("programs/stage1"), f.pop("digest")))),
]


BUNDLES = [
    case("missing", lambda place: None, ["bad", "No such file", "mtc compile"]),
    case("an empty folder", lambda place: os.mkdir(place.path("bad")),
         ["bad/manifest.json", "No such file", "mtc compile"]),
    case("a file", lambda place: place.write("bad", "x"), ["bad", "mtc compile"]),
    case("manifest is no JSON", damaged("manifest.json", lambda _: "hello"),
         ["bad/manifest.json", "expected JSON"]),
    case("manifest is empty", damaged("manifest.json", lambda _: ""),
         ["bad/manifest.json", "expected JSON"]),
    case("manifest is cut short", damaged("manifest.json", half),
         ["bad/manifest.json", "expected JSON"]),
    case("manifest is a list", damaged("manifest.json", lambda _: "[]"),
         ["bad/manifest.json", "expected an object"]),
    case("manifest of another version", manifest(lambda f: f.update(abi=99)),
         ["bad/manifest.json", "abi 26", "99", "compile"]),
    case("manifest lacks fields",
         manifest(lambda f: [f.pop("plan_hash"), f["mesh"].pop("tp")]),
         ["'plan_hash' is missing", "'tp' is missing", "2 problems"]),
    case("manifest has wrong types", manifest(lambda f: f["mesh"].update(dp="2")),
         ["'dp'", "expected an integer", "string"]),
    case("manifest names a file outside",
         manifest(lambda f: f["programs"][0].update(executable="../../stage0")),
         ["../../stage0", "leaves the bundle"]),
    case("manifest lists a stage twice",
         manifest(lambda f: f["programs"][1].update(stage=0)),
         ["stage 0 is listed twice", "stage 1 has no program"]),
    case("manifest with another mesh", manifest(lambda f: f["mesh"].update(tp=1)),
         ["stage 0", "stage 1", "mesh", "compile the bundle again"]),
    case("manifest with groups of ranks that share heads",
         manifest(lambda f: f["mesh"].update(kv=3)),
         ["stage 0", "stage 1", "mesh", "compile the bundle again"]),
    case("manifest with another hash",
         manifest(lambda f: f.update(plan_hash="0123456789abcdef")),
         ["plan hash", "0123456789abcdef", "compile the bundle again"]),
    case("a program is missing", removed("programs/stage1"),
         ["bad/programs/stage1", "No such file"]),
    case("a shared program is missing", removed("programs/stage1.so"),
         ["bad/programs/stage1.so", "No such file"], THREADS),
    case("a program is cut to half", damaged("programs/stage1", half),
         ["bad/programs/stage1", "cut short"]),
    case("a program is empty", damaged("programs/stage0", lambda _: b""),
         ["bad/programs/stage0", "ELF"]),
    case("a shared program is cut to half", damaged("programs/stage1.so", half),
         ["bad/programs/stage1.so", "cut short"], THREADS),
    case("a program is a script",
         damaged("programs/stage0", lambda _: "#!/bin/sh\nexit 0\n"),
         ["bad/programs/stage0", "ELF"]),
    case("a program is not executable", not_executable,
         ["bad/programs/stage1", "Permission denied", "chmod +x"]),
    case("a program of another plan", of_another_plan,
         ["stage 0", "plan hash", "mesh", "compile the bundle again"]),
    case("programs of two stages swapped", stages_swapped,
         ["program of stage 0", "program of stage 1", "its stage"]),
    case("a program of another version",
         damaged("programs/stage1", replaced(b'"abi":26', b'"abi":27')),
         ["bad/programs/stage1", "expected abi 26, found 27", "compile"]),
    case("an instruction set that is none",
         damaged("programs/stage1", replaced(b'"isa":"x86-64-v3"',
                                             b'"isa":"x86-64-v9"')),
         ["instruction set", "x86-64-v3", "x86-64-v9"], RUN, 2),
    case("a descriptor that is damaged",
         damaged("programs/stage0", replaced(b'"stage":0,', b'"stagy":0,')),
         ["bad/programs/stage0", "'stage' is missing"]),
    case("inspect a program that is cut short", damaged("programs/stage0", half),
         ["bad/programs/stage0", "cut short"], ["inspect", "bad/programs/stage0"]),
    case("inspect one with a program that is cut short", damaged("programs/stage0", half),
         ["bad/programs/stage0", "cut short"], ["inspect", "bad"]),
    case("needs of one with a program that is cut short",
         damaged("programs/stage1", half), ["bad/programs/stage1", "cut short"],
         ["inspect", "bad", "--requires"]),
]


def weights(edit):
    """bad.safetensors: the weights of a run with tensors edited."""
    def make(place):
        tensors = {name: (tensor.shape, tensor.values()) for name, tensor
                   in safetensors.read(place.path("weights.safetensors")).items()}
        edit(tensors)
        safetensors.write(place.path("bad.safetensors"), tensors)
    return make


def weights_bytes(edit):
    return lambda place: place.write("bad.safetensors",
                                     edit(place.read("weights.safetensors")))


def transposed(tensors):
    shape, values = tensors["layers.0.mlp.up.weight"]
    tensors["layers.0.mlp.up.weight"] = shape[::-1], values


def several_wrong(tensors):
    transposed(tensors)
    del tensors["final_norm.scale"]
    tensors["layers.1.mlp.down.bias"] = [3], array.array("f", [0, 0, 0])


def other_header(edit):
    def change(content):
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8:8 + length])
        edit(header)
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + content[8 + length:]
    return weights_bytes(change)


def weights_case(name, make, says, bundle="one"):
    return Case("weights: " + name,
                ["run", bundle, "--data", "data.bin", "--data-type", "u8", "--steps", 2,
                 "--quiet", "--init-from", "bad.safetensors", "--save",
                 "out.safetensors"], REJECTD, ["bad.safetensors", *says], make)


UP = "'layers.0.mlp.up.weight'"
WEIGHTS = [
    weights_case("missing", lambda place: None, ["No such file"]),
    weights_case("a folder", lambda place: place.write("bad.safetensors/x", ""),
                 ["regular file"]),
    weights_case("empty", weights_bytes(lambda _: b""), ["header"]),
    weights_case("another format", weights_bytes(lambda _: b"PK\3\4" + bytes(100)),
                 ["not a safetensors file", "header"]),
    weights_case("cut short", weights_bytes(lambda c: c[:-1000]),
                 ["the tensors need", "bytes of data, found"]),
    weights_case("cut short in the header", weights_bytes(lambda c: c[:100]),
                 ["longer than the file"]),
    weights_case("of a wrong shape", weights(transposed),
                 [UP, "expected F32 [32, 64], found F32 [64, 32]"]),
    weights_case("of a wrong shape, four ranks", weights(transposed),
                 [UP, "expected F32 [32, 64], found F32 [64, 32]"], "two"),
    weights_case("of a wrong dtype",
                 other_header(lambda h: h["layers.0.mlp.up.weight"].update(dtype="I32")),
                 [UP, "expected F32 [32, 64], found I32 [32, 64]"]),
    weights_case("of an unknown dtype",
                 other_header(lambda h: h["layers.0.mlp.up.weight"].update(dtype="Q4")),
                 ["layers.0.mlp.up.weight", "unknown dtype 'Q4'"]),
    weights_case("a tensor is missing",
                 weights(lambda t: t.pop("embed.tokens")),
                 ["'embed.tokens' is missing"]),
    weights_case("of another model, a tensor too many",
                 weights(lambda t: t.update({"layers.2.mlp.up.weight":
                                             t["layers.0.mlp.up.weight"]})),
                 ["'layers.2.mlp.up.weight'"]),
    weights_case("several are wrong", weights(several_wrong),
                 [UP, "'final_norm.scale' is missing", "'layers.1.mlp.down.bias'",
                  "[32]", "[3]", "3 problems"]),
]

CASES = BUNDLES + DAMAGE + WEIGHTS
