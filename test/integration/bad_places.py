"""No room: full disks, folders that cannot be written, too little memory."""

import ctypes
import os
import resource
import shutil
import subprocess

from bad_bundles import copy
from bad_case import Broken, Case, Ended, Place, install, lines, there

FAILED, USAGE, REJECTD, INFEASIBLE, NOT_WRITTEN = 1, 2, 3, 4, 18
FULL = ("No space left on device", "File too large")
RUN = ["run", "one", "--data", "data.bin", "--data-type", "u8", "--quiet"]
COMPILE = ["compile", "tiny.toml", "--gbs", 2]
MANY = ["--steps", 1000]


def limited(what, number):
    """Runs a command with a limit of the process, as `ulimit` sets it."""
    def act(place, command):
        return place.run(command,
                         lambda: resource.setrlimit(what, (number, number)))
    return act


def mounted(place, folder, options):
    """Whether a small file system is in `folder` now: that needs root."""
    os.makedirs(place.path(folder))
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs",
                           place.path(folder)], capture_output=True).returncode == 0
    if done:
        place.cleanup.append(lambda: subprocess.run(["umount", "-l",
                                                     place.path(folder)]))
    return done


def full_disk(kibibytes):
    """Prepares a folder `small` that holds so much. Where there is no right to mount
    one, no file may be longer than that."""
    def make(place):
        if not mounted(place, "small", f"size={kibibytes}k"):
            place.limit = resource.RLIMIT_FSIZE, 1024 * kibibytes
    return make


def on_full_disk(place, command):
    """The limit of a file's size holds for shared memory, too: ranks are threads."""
    limit = getattr(place, "limit", None)
    if limit and command[0] == "run":
        command = [*command, "--comm", "threads"]
    return limited(*limit)(place, command) if limit else place.run(command)


def on_full_disk_then(*checks):
    """As bad_case.then."""
    def act(place, command):
        ended = on_full_disk(place, command)
        wrong = [text for check in checks if (text := check(place))]
        return Ended(None, ended.out, "\n".join([ended.err, *wrong])) if wrong else ended
    return act


SAVED = on_full_disk_then(there("out.safetensors"))
ALL_SAVED = on_full_disk_then(there("out.safetensors"), there("c/step-00000300/manifest.json"))


def other_list(place):
    install(place, lambda name: shutil.copy if name == "shared.txt" else os.symlink)
    place.write("installed/lib/mtc/link/shared.txt", "-Map=x\n")


def damaged_archive(place):
    install(place, lambda name: None if name == "libmtc_comm.a" else os.symlink)
    place.write("installed/lib/mtc/link/libmtc_comm.a", "!<arch>\nno archive")


def without_compiler(place, command):
    """Neither a compiler nor a linker can be called."""
    return place.run(command, environment={"PATH": "/none", "CXX": "/none"})


def without_privilege():
    """Root may write where nobody may, by a capability that can be given up."""
    capbset_drop, dac_override = 24, 1
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(capbset_drop, dac_override, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot give up CAP_DAC_OVERRIDE")


def read_only(place):
    """`closed`: a folder in which nobody may write, not even root."""
    os.makedirs(place.path("closed"))
    os.chmod(place.path("closed"), 0o555)
    if os.geteuid() == 0:
        place.before_exec = without_privilege


def notes(place):
    copy(place, "one")
    place.write("bad/notes.txt", "mine")


def other_manifest(place):
    place.write("bad/manifest.json", "{\"name\": \"not a bundle\"}")
    place.write("bad/index.html", "mine")


def big(place, *layout):
    """A bundle whose arenas of a rank do not fit into two GiB of addresses."""
    place.write("big.toml", """name = "big"
vocab = 262144
layers = 1
hidden = 512
heads = 4
ffn = 64
max_seq = 16
""")
    ended = Place.run(place, ["compile", "big.toml", "--gbs", 2, *layout, "-o", "bad"])
    if ended.code != 0:
        raise Broken(ended.err)


def big_of_two(place):
    """Likewise, of ranks that share them."""
    big(place, "--dp", 2)


BIG = ["run", "bad", "--data", "data.bin", "--data-type", "u8", "--quiet"]

DISKS = [
    Case("full disk: a bundle", [*COMPILE, "-o", "small/out"], NOT_WRITTEN,
         ["small/out", FULL], make=full_disk(16), act=on_full_disk),
    Case("full disk: a bundle, while linking", [*COMPILE, "-o", "small/out"],
         NOT_WRITTEN, ["small/out", FULL], make=full_disk(200), act=on_full_disk),
    Case("full disk: IR", [*COMPILE, "--compile-to", "plan-memory", "-o", "small/ir"],
         NOT_WRITTEN, ["small/ir", FULL], make=full_disk(16), act=on_full_disk),
    Case("full disk: IR of all phases", [*COMPILE, "--save-ir", "small/ir", "-o", "out"],
         NOT_WRITTEN, ["small/ir/", FULL], make=full_disk(64), act=on_full_disk,
         leaves=("small/ir/*.mlir",)),
    Case("full disk: standard output", [*COMPILE, "--compile-to", "import"],
         NOT_WRITTEN, ["standard output", "No space left"],
         act=lambda place, command: place.end(start_full(place, command))),
    Case("full disk: parameters", [*RUN, "--steps", 2, "--save", "small/out.safetensors"],
         NOT_WRITTEN, ["small/out.safetensors", FULL], make=full_disk(32), act=on_full_disk),
    Case("full disk: parameters of four ranks",
         ["run", "two", *RUN[2:], "--steps", 2, "--save", "small/out.safetensors"],
         NOT_WRITTEN, ["rank ", "small/out.safetensors", FULL], make=full_disk(16), act=on_full_disk),
    Case("full disk: parts fit, the whole does not",
         ["run", "two", *RUN[2:], "--steps", 2, "--save", "small/out.safetensors"],
         NOT_WRITTEN, ["rank 0", "small/out.safetensors", FULL], make=full_disk(60), act=on_full_disk),
    Case("full disk: a dump", [*RUN, "--steps", 2, "--dump", "grads", "small"],
         NOT_WRITTEN, ["small/grads.safetensors", FULL], make=full_disk(32), act=on_full_disk),
    Case("full disk: a trace, and the run goes on",
         [*RUN, "--steps", 300, "--profile", "small/t.json", "--profile-step-end", 299,
          "--checkpoints", "c", "--save", "out.safetensors"], NOT_WRITTEN,
         ["warning: the run goes on: cannot write 'small/t.json.parts-",
          "error: rank 0: cannot write 'small/t.json.parts-", FULL], make=full_disk(250),
         act=ALL_SAVED, leaves=("c/step-00000300/*", "c.lock", "out.safetensors")),
    Case("full disk: a trace of four ranks, and an end that was asked for",
         ["run", "two", *RUN[2:], "--steps", 400, "--profile", "small/t.json",
          "--profile-step-end", 299, "--exit-interval", 300, "--checkpoints", "c", "--save",
          "out.safetensors"], NOT_WRITTEN,
         ["warning: the run goes on: cannot write 'small/t.json.parts-", "error: rank ", FULL,
          "; ended after step 300; 'c/step-00000300' has all of step 300"], make=full_disk(250),
         act=ALL_SAVED, leaves=("c/step-00000300/*", "c.lock", "out.safetensors")),
    Case("full disk: a dump of four ranks, and the run goes on",
         ["run", "two", *RUN[2:], "--steps", 2, "--dump", "grads@1", "small", "--log",
          "log.jsonl"], NOT_WRITTEN,
         ["warning: the run goes on: ", "small/grads@1.safetensors", FULL],
         make=full_disk(16), act=on_full_disk_then(lines("log.jsonl", 2)), leaves=("log.jsonl",)),
    Case("full disk: the last checkpoint, and parameters elsewhere",
         [*RUN, "--steps", 2, "--checkpoints", "small/c", "--save", "out.safetensors"],
         NOT_WRITTEN, ["small/c", (*FULL, "has room for")], make=full_disk(100), act=SAVED,
         leaves=("out.safetensors", "small/c", "small/c.lock")),
    Case("full disk: a log", [*RUN, *MANY, "--log", "small/log.jsonl"], NOT_WRITTEN,
         ["small/log.jsonl", FULL, "lines"], make=full_disk(8), act=on_full_disk,
         leaves=("small/log.jsonl",)),
    Case("full disk: a log, from the first line",
         [*RUN, "--steps", 3, "--log", "/dev/full", "--save", "out.safetensors"],
         NOT_WRITTEN, ["/dev/full", "No space left", "4 of 4 lines"],
         leaves=("out.safetensors",)),
]

FOLDERS = [
    Case("read-only folder: a bundle", [*COMPILE, "-o", "closed/out"], NOT_WRITTEN,
         ["closed/out", "cannot create"], read_only),
    Case("read-only folder: parameters, before the first step",
         [*RUN, *MANY, "--save", "closed/out.safetensors", "--log", "log.jsonl"],
         NOT_WRITTEN, ["closed/out.safetensors", "cannot write"], read_only),
    Case("read-only folder: a dump", [*RUN, *MANY, "--dump", "init", "closed/d"],
         NOT_WRITTEN, ["closed/d", "cannot"], read_only),
    Case("read-only folder: a log", [*RUN, *MANY, "--log", "closed/log.jsonl"],
         NOT_WRITTEN, ["closed/log.jsonl", "cannot write"], read_only),
    Case("read-only folder: IR", [*COMPILE, "--save-ir", "closed/ir", "-o", "out"],
         NOT_WRITTEN, ["closed/ir", "cannot"], read_only),
    Case("no folder for parameters, before the first step",
         [*RUN, *MANY, "--save", "none/out.safetensors", "--log", "log.jsonl"],
         NOT_WRITTEN, ["none/out.safetensors", "No such file or directory"]),
    Case("parameters to a folder", [*RUN, *MANY, "--save", "folder", "--log",
                                    "log.jsonl"], NOT_WRITTEN,
         ["'folder'", "expected a new name or a regular file, found a folder"],
         lambda place: place.write("folder/inside", "")),
    Case("parameters to a device", [*RUN, *MANY, "--save", "/dev/null"], NOT_WRITTEN,
         ["'/dev/null'", "a regular file", "a device"]),
    Case("a log to a folder", [*RUN, *MANY, "--log", "folder"], NOT_WRITTEN,
         ["folder", "Is a directory"], lambda place: place.write("folder/inside", "")),
    Case("a dump into a file", [*RUN, *MANY, "--dump", "init", "folder"], NOT_WRITTEN,
         ["folder", "cannot create folder"], lambda place: place.write("folder", "x")),
    Case("bundle onto a file", [*COMPILE, "-o", "folder"], USAGE,
         ["'folder'", "expected a new folder", "found a file", "another name"],
         lambda place: place.write("folder", "x")),
    Case("bundle beneath a file", [*COMPILE, "-o", "folder/out"], NOT_WRITTEN,
         ["folder/out", "Not a directory"], lambda place: place.write("folder", "x")),
    Case("bundle onto somebody's folder", [*COMPILE, "-o", "folder"], USAGE,
         ["'folder'", "inside", "another name"],
         lambda place: place.write("folder/inside", "x")),
    Case("bundle onto a bundle with somebody's file", [*COMPILE, "-o", "bad"], USAGE,
         ["'bad'", "notes.txt", "another name"], notes),
    Case("bundle onto a folder with another manifest", [*COMPILE, "-o", "bad"], USAGE,
         ["'bad'", "index.html", "another name"], other_manifest),
    Case("a bundle that cannot be replaced is as before",
         [*COMPILE, "-o", "bad"], NOT_WRITTEN, ["bad", "File too large"], copy,
         act=limited(resource.RLIMIT_FSIZE, 1 << 16)),
    Case("a plan that cannot be leaves the earlier bundle",
         [*COMPILE, "--tp", 3, "-o", "bad"], INFEASIBLE, ["tp = 3"], copy),
    Case("mtc alone, without what it links with", [*COMPILE, "-o", "out"], FAILED,
         ["executable.txt", "install mtc as a whole"],
         lambda place: install(place, lambda name: None)),
    Case("an installation that lacks an archive", [*COMPILE, "-o", "out"], FAILED,
         ["libmtc_comm.a", "install mtc as a whole"],
         lambda place: install(place, lambda name: None if name == "libmtc_comm.a"
                               else os.symlink)),
    Case("an installation with another list", [*COMPILE, "-o", "out"], FAILED,
         ["shared.txt", "found '-Map=x'", "install mtc as a whole"], other_list),
    Case("an installation with a damaged archive", [*COMPILE, "-o", "out"], FAILED,
         ["linking failed", "libmtc_comm.a"], damaged_archive),
    Case("no compiler, and a name that is an option of linkers",
         [*COMPILE, "--output=-Wl,--version"], 0, [], leaves=("-Wl,--version/*",),
         act=without_compiler),
    Case("a name that is a response file", [*COMPILE, "-o", "@arguments"], 0, [],
         lambda place: place.write("arguments", "--version"), ("@arguments/*",)),
]

def any_memory(place, command):
    """A compilation under limits of its addresses that nearly suffice: it works, or
    says that memory is short. The dynamic linker's own message is for less."""
    for mebibytes in range(448, 640, 48):
        limit = mebibytes << 20
        ended = place.run(command,
                          lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        started = "error while loading shared libraries" not in ended.err
        words = ("memory", "ulimit", "Resource temporarily unavailable")
        if started and ended.code != 0 and (
                ended.code not in (FAILED, INFEASIBLE, NOT_WRITTEN)
                or not any(word in ended.err for word in words)):
            return Ended(None, ended.out, f"{mebibytes} MiB, code {ended.code}: {ended.err}")
        shutil.rmtree(place.path("out"), ignore_errors=True)
    return place.run(command)


MEMORY = [
    Case("memory: any limit of a compilation", [*COMPILE, "-o", "out"], 0, [],
         leaves=("out/*",), act=any_memory),
    Case("memory: no addresses for the arenas of a rank that is alone", BIG, INFEASIBLE,
         ["rank 0", "arena", "cannot map", "bytes", "Cannot allocate memory", "ulimit -v"], big,
         act=limited(resource.RLIMIT_AS, 1 << 30)),
    Case("memory: no addresses for the arenas of ranks", BIG, INFEASIBLE,
         ["arena grads of rank ", "cannot map", "bytes", "Cannot allocate memory",
          "ulimit -v"], big_of_two,
         act=limited(resource.RLIMIT_AS, 1 << 30)),
    Case("memory: no addresses for the arenas, threads", [*BIG, "--comm", "threads"],
         INFEASIBLE, ["rank 0", "bytes", "arena", "Cannot allocate memory",
                      "ulimit -v"], big, act=limited(resource.RLIMIT_AS, 1 << 30)),
    Case("memory: shared memory above a limit", BIG, INFEASIBLE,
         ["bytes of shared memory", "File too large", "ulimit -f"], big_of_two,
         act=limited(resource.RLIMIT_FSIZE, 1 << 22)),
    Case("memory: too many arenas for the descriptors", ["run", "two", *RUN[2:]],
         INFEASIBLE, ["bytes of shared memory", "Too many open files", "ulimit -n"],
         act=limited(resource.RLIMIT_NOFILE, 16)),
]


def start_full(place, command):
    """Standard output is a full disk."""
    return subprocess.Popen(
        [place.program, *map(str, command)], cwd=place.folder, text=True,
        stdin=subprocess.DEVNULL, stdout=open("/dev/full", "w"),
        stderr=subprocess.PIPE, env=place.environment())


CASES = DISKS + FOLDERS + MEMORY
