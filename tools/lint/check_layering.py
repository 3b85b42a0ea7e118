#!/usr/bin/env python3
"""Who may include whom, and link whom.

    tools -> compiler -> models, passes -> dialects -> MLIR
    compiler, tools -> the runtime's headers; runtime -> nothing above, no MLIR, no LLVM
"""

import re

import tree

FRAMEWORK = {"mlir", "mlir-c", "llvm", "llvm-c", "lld", "clang"}
ABI = "runtime/include"  # the public headers: the one definition of every layout
MESH = ABI + "/mtc/runtime/mesh.h"  # the mesh axes: names that files have, too
CHIPS = ABI + "/mtc/runtime/gpu_chips.h"  # the architectures: names that files have, too
TABLES = {ABI, "dialects/Tables.h", "dialects/Tables.td"}
BASE = {"dialects", "passes/Passes.h", "passes/PhasePass.h", "passes/microbatch.h"}
PASSES = BASE | {"passes/families"}
LAYERS = ("dialects", "models", "passes", "compiler", "runtime", "tools")

# What the files of a folder may include; the longest matching folder counts. A
# folder may always include itself.
ALLOWED = {
    "dialects": FRAMEWORK | TABLES,  # and, of each other:
    # What a step does is chosen by name in mtc.config.
    "dialects/tfm": FRAMEWORK | TABLES | {"dialects/mtc"},
    # Attributes of a level ride on the ops of the next ones.
    "dialects/pipe": FRAMEWORK | TABLES | {"dialects/tfm", "dialects/dist"},
    "dialects/rt": FRAMEWORK | TABLES | {"dialects/mtc", "dialects/dist", "dialects/pipe"},
    "models": {"runtime/base", MESH, CHIPS},  # specs and strategies: plain C++
    "models/import": FRAMEWORK | {"models", "dialects", "runtime/base", MESH},
    "passes": FRAMEWORK | {"dialects", ABI},  # families, registration
    "passes/target": FRAMEWORK | {"dialects", ABI},
    # What is computed again depends on which stage has which layers.
    "passes/model": FRAMEWORK | PASSES | {"passes/pipeline/layers.h"},
    "passes/sharding": FRAMEWORK | PASSES,
    "passes/pipeline": FRAMEWORK | PASSES | {ABI},
    "passes/pipeline/schedules": {ABI},  # pure functions in plain C++, on pools by their names
    "passes/plan": FRAMEWORK | PASSES | {"passes/target", ABI},
    # Nothing of what it verifies, so that no mistake is made twice; but the analysis of
    # waits, which tests hold to an interpreter of plans, the notation of slots, and what
    # the target needs.
    "passes/verify": FRAMEWORK | BASE | {"passes/target/target.h", "passes/pipeline/schedules/machine.h",
                                         "passes/pipeline/schedules/schedule.h",
                                         "passes/pipeline/schedules/waitfor.h", ABI},
    "passes/codegen": FRAMEWORK | PASSES | {"passes/target", ABI},
    "compiler": FRAMEWORK | {"dialects", "passes", "models", "runtime/base", ABI},
    "runtime": set(),
    "runtime/fmt": set(),
    # The seam of devices: none of these knows one.
    "runtime/comm": {"runtime/base", "runtime/device/arena.h", ABI},
    "runtime/comm/mpi": {"runtime/base", "runtime/comm", "runtime/device/arena.h",
                         "runtime/rendezvous/alarm.h", ABI},
    # The job's control channel: also for whoever talks by something else than MPI.
    "runtime/rendezvous": {"runtime/base", ABI},
    # Notes of what communicators and programs do; both know its recorder only.
    "runtime/flight": {"runtime/base", "runtime/comm/comm.h", "runtime/comm/call.h", ABI},
    "runtime/program": {"runtime/base", "runtime/comm/comm.h", "runtime/device/device.h",
                        "runtime/device/device_calls.h", "runtime/flight/flight_comm.h",
                        "runtime/device/staging.h", "runtime/device/work_keeper.h",
                        "runtime/kernels/cpu/norm.h", "runtime/kernels/cpu/norm_counter.h",
                        "runtime/kernels/cpu/team.h",
                        "runtime/control/rank_process.h", ABI},
    # Tensors in parts, and files of them.
    "runtime/pieces": {"runtime/base", "runtime/device/device.h",
                       "runtime/program/descriptor.h", ABI},
    "runtime/checkpoint": {"runtime/base", "runtime/pieces", ABI},
    # Files of tokens, and the samples that are cut of them; tools write such files.
    "runtime/data": {"runtime/base", ABI},
    "runtime/train": {"runtime/base", "runtime/checkpoint", "runtime/data", "runtime/pieces",
                      "runtime/program", "runtime/device/device.h",
                      "runtime/kernels/cpu/init.h", ABI},
    # What `mtc data` does; programs know no tokenizer.
    "tools/data": {"runtime/base", "runtime/data", "runtime/train/progress.h", ABI},
    "tools": FRAMEWORK | {"compiler", "models", "passes/phases.h", "runtime/base",
                          "runtime/control/signals.h", "runtime/data", ABI},
}
INCLUDE = re.compile(r'^\s*(?:#\s*include|include)\s+["<]([^">]+)[">]', re.MULTILINE)


def is_in(path, folder):
    return path == folder or path.startswith(folder + "/")


def is_file(path):
    return "." in path.split("/")[-1]


def home(path):
    """The folder whose rule holds for `path`."""
    return max((folder for folder in ALLOWED if is_in(path, folder)),
               key=len, default=None)


def target(include):
    """Where an include leads: a path of the repository, a framework, or None for
    the standard library, other libraries and neighbours in the same folder."""
    first = include.split("/")[0]
    if first in FRAMEWORK:
        return first
    if first == "mtc":
        return f"{ABI}/{include}"
    return include if first in LAYERS and "/" in include else None


def generated(include):
    return include.endswith(".inc")


def check_file(path, content):
    folder = home(path)
    for found in INCLUDE.finditer(content):
        to = target(found[1])
        if to is None or generated(found[1]):
            continue
        # dialects/tfm may include itself, dialects/dist it may not.
        own = "/".join(path.split("/")[:2]) if folder == "dialects" else folder
        if is_in(to, own) or any(is_in(to, other) for other in ALLOWED[folder]):
            continue
        line = content.count("\n", 0, found.start(1)) + 1
        allowed = ", ".join(sorted(ALLOWED[folder])) or "nothing"
        yield (f"{path}:{line}: '{found[1]}' is outside what {own} may include "
               f"(itself and: {allowed})")


LIBRARY = re.compile(r"^\s*(?:add_library|mtc_passes|mtc_dialect)\((\w+)", re.MULTILINE)
LINKS = re.compile(r"target_link_libraries\((\w+)([^)]*)\)")


def libraries(root, lists):
    """The folder of each library; a dialect's is called mtc_<dialect>."""
    return {name if name.startswith("mtc_") else f"mtc_{name}": str(path.parent)
            for path in lists for name in LIBRARY.findall(tree.text(root / path) or "")}


def check_links(root):
    """A library links what its files may include. What has no folder of ours is a
    library of others, or an interface."""
    lists = [path for path in tree.files(root) if path.name == "CMakeLists.txt"]
    folders = libraries(root, lists)
    # Passes may call the kernels' planning functions, which abi.h declares.
    folders.pop("mtc_kernels_cpu", None)
    folders.pop("mtc_fmt", None)  # others' code, compiled here
    if "mtc_runtime_headers" in folders:  # made beside the folder that it gives
        folders["mtc_runtime_headers"] = ABI
    for path in lists:
        for name, words in LINKS.findall(tree.text(root / path) or ""):
            own = folders.get(name)
            folder = home(f"{own}/x") if own else None
            for word in words.split() if folder in ALLOWED else ():
                to = folders.get(word)
                if to is None or is_in(to, folder) or is_in(own, to):
                    continue
                if not any(is_in(to, o) or is_file(o) and is_in(o, to)
                           and to in (ABI, o.rpartition("/")[0]) for o in ALLOWED[folder]):
                    yield (f"{path}: {name} links {word} of {to}, which is outside what "
                           f"{folder} may include")


def check(root):
    yield from check_links(root)
    for path in tree.files(root):
        if path.suffix in (".h", ".cpp", ".cu", ".td") and home(str(path)):
            yield from check_file(str(path), tree.text(root / path) or "")


if __name__ == "__main__":
    tree.main(check, "lower layers do not know higher ones")
