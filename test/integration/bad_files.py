"""Outputs that are inputs, and files of the user beside them."""

import os
import shutil

from bad_case import Case, then

USAGE, REJECTD, INTERRUPTED, NOT_FINITE = 2, 3, 11, 15
RUN = ["run", "one", "--data", "tokens.bin", "--data-type", "u8", "--steps", 2, "--quiet"]
TOKENS = bytes((7 * i + i // 5) % 64 for i in range(4000))


def tokens(place):
    place.write("tokens.bin", TOKENS)


def other_names(place):
    """The same file by a hard and a symbolic link, and a folder by another name."""
    tokens(place)
    os.link(place.path("tokens.bin"), place.path("hard"))
    os.symlink("tokens.bin", place.path("soft"))
    os.makedirs(place.path("folder"))
    os.symlink("folder", place.path("door"))


def own_bundle(place):
    """A copy of the bundle, and a hard link to its program."""
    tokens(place)
    for folder, _, names in os.walk(place.path("one"), followlinks=True):
        for name in names:
            source = os.path.join(folder, name)
            target = place.path("mine", os.path.relpath(source, place.path("one")))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    os.link(place.path("mine/programs/stage0"), place.path("hard"))


def clash(name, option, file, says, make=other_names, before=RUN):
    return Case(f"files: {name}", [*before, *option, file], USAGE,
                ["outputs: expected files of their own", file, *says], make)


MINE = ["run", "mine", *RUN[2:]]
CLASHES = [
    clash("a log onto the data", ["--log"], "tokens.bin", ["the file of --data"]),
    clash("a log onto the data by another name", ["--log"], "./folder/../tokens.bin",
          ["the file of --data"]),
    clash("a log onto a hard link to the data", ["--log"], "hard", ["the file of --data"]),
    clash("a log onto a symbolic link to the data", ["--log"], "soft",
          ["the file of --data"]),
    clash("parameters onto the data", ["--save"], "hard", ["the file of --data"]),
    clash("parameters onto the recipe", ["--recipe", "r.toml", "--save"], "r.toml",
          ["the file of --recipe"], lambda place: (tokens(place),
                                                   place.write("r.toml", "lr = 1e-3\n"))),
    clash("parameters onto the initial ones",
          ["--init-from", "weights.safetensors", "--save"], "weights.safetensors",
          ["the file of --init-from"]),
    clash("parameters and a log", ["--save", "door/x", "--log"], "folder/x",
          ["the file of --save"]),
    clash("a log and what a link will be", ["--save", "link", "--log"], "target",
          ["the file of --save"], lambda place: (tokens(place),
                                                os.symlink("target", place.path("link")))),
    clash("a log through a link into the bundle", ["--log"], "link", ["inside the bundle"],
          lambda place: (own_bundle(place),
                         os.symlink("mine/log.jsonl", place.path("link"))), MINE),
    clash("trace onto the dump", ["--dump", "init", "folder", "--trace"],
          "folder/init.safetensors", ["--trace", "the file of --dump init"]),
    clash("parameters onto the dump", ["--dump", "init", "folder", "--save"],
          "folder/init.safetensors", ["--dump init", "the file of --save"]),
    clash("parameters onto a program of the bundle", ["--save"], "mine/programs/stage0",
          ["a file of the bundle"], own_bundle, MINE),
    clash("a log onto a hard link to a program", ["--log"], "hard",
          ["a file of the bundle"], own_bundle, MINE),
    clash("a log inside of the bundle", ["--log"], "mine/programs/log.jsonl",
          ["inside the bundle 'mine'"], own_bundle, MINE),
    Case("files: a dump inside of the bundle", [*MINE, "--dump", "init", "mine/d"], USAGE,
         ["mine/d/init.safetensors", "inside the bundle"], own_bundle),
]


def in_the_way(place):
    """Files of the user with names that parts could have, one of them the data."""
    tokens(place)
    for name in ("w.part0", "w.part7", "w.tmp.1.2"):
        place.write(name, TOKENS)
    place.write("w.lock", "")


def behind_link(*there):
    """`w` is a link to a file in another folder, which is there, or not yet."""
    def make(place):
        tokens(place)
        os.makedirs(place.path("disk"))
        for name in there:
            place.write(name, "old")
        os.symlink("disk/w", place.path("w"))
    return make


def linked(place):
    """What was written through `w` is where the link leads."""
    if os.readlink(place.path("w")) != "disk/w" or place.read("disk/w") == b"old":
        return "w is no link to what was written any more"
    return None


def over_old(place, command):
    os.makedirs(place.path("disk"))
    place.write("disk/w", "old")
    os.symlink("disk/w", place.path("w"))
    return then(linked)(place, command)


KEPT = [
    Case("files: names that parts could have", [*RUN, "--save", "w"], 0, [], in_the_way, ("w",)),
    Case("files: names that parts could have, of a run that fails",
         ["run", "one", "--data", "w.part7", "--data-type", "u8", "--steps", 9, "--lr", 1e5,
          "--min-lr", 1e5, "--clip", 0, "--save", "w"], NOT_FINITE, ["not finite"], in_the_way,
         ("w",)),
    Case("files: parameters behind a link", [*RUN, "--save", "w"], 0, [], behind_link(),
         ("disk/w",), then(linked)),
    Case("files: parameters over others behind a link", [*RUN, "--save", "w"], 0, [], tokens,
         ("disk/w", "w"), over_old),
]


def compiled(name, command, says, make=lambda place: None):
    return Case(f"files: {name}", ["compile", *command], USAGE,
                ["outputs: expected files of their own", *says], make)


def saved_ir(place):
    """IR of all phases, one of which somebody edited."""
    place.run(["compile", "tiny.toml", "--gbs", 2, "--compile-to", "plan-memory",
               "--save-ir", "ir", "-o", "plan.mlir"])
    name = EDITED.split("/")[1]
    place.write(EDITED, place.read(f"ir/{name}") + b"\n// mine\n")


EDITED = "ir/08-verify-partitioned.mlir"
COMPILED = [
    compiled("IR onto the spec", ["my.toml", "--gbs", 2, "--compile-to", "import", "-o",
                                  "./my.toml"], ["the file of the model"],
             lambda place: shutil.copy(place.path("tiny.toml"), place.path("my.toml"))),
    compiled("IR onto the strategy",
             ["tiny.toml", "--strategy", "s.toml", "--compile-to", "import", "-o", "s.toml"],
             ["the file of --strategy"],
             lambda place: place.write("s.toml", "global_batch_size = 2\n")),
    compiled("IR onto a manifest", ["tiny.toml", "--gbs", 2, "--compile-to", "import", "-o",
                                    "mine/manifest.json"], ["a file of the bundle"], own_bundle),
    Case("files: IR that was edited stays",
         ["compile", EDITED, "--compile-to", "plan-memory", "--save-ir", "ir", "-o", "-"],
         0, [], saved_ir, ("ir/*",)),
]


CASES = CLASHES + KEPT + COMPILED
