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


def own_checkpoints(place):
    """A folder with two checkpoints, a copy of one by another name, and a link into it."""
    own_bundle(place)
    shutil.copytree(place.path("ckpt"), place.path("ck"))
    shutil.copytree(place.path(STEP), place.path("best"))
    os.symlink(RANK, place.path("link"))


STEP = "ck/step-00000002"
RANK = STEP + "/rank00000.safetensors"
RESUMED = ["--checkpoints", "ck", "--resume"]


def sealed(name, command, *says):
    """An output in a bundle or a checkpoint, whatever the command."""
    return Case(f"files: {name}", command, USAGE,
                ["outputs: expected files of their own, outside of bundles and checkpoints; "
                 "choose other names", *says], own_checkpoints)


EXPORT = ["checkpoint", "export", "ck"]
SEALED = [
    sealed("an export onto what it reads", [*EXPORT, RANK], f"inside the checkpoint '{STEP}'"),
    sealed("an export onto a manifest", [*EXPORT, f"./{STEP}/manifest.json"],
           f"inside the checkpoint '{STEP}'"),
    sealed("an export through a link", [*EXPORT, "link"], "'link'", STEP),
    sealed("an export to a name of a checkpoint", [*EXPORT, "ck/step-00000009"],
           "it is the checkpoint 'ck/step-00000009'"),
    sealed("an export into a copy of a checkpoint", [*EXPORT, "best/new.safetensors"],
           "inside the checkpoint 'best'"),
    sealed("an export onto a manifest of a bundle", [*EXPORT, "mine/manifest.json"],
           "inside the bundle 'mine'"),
    sealed("parameters onto what is loaded", [*RUN, "--load", "ck", "--save", RANK], "--save",
           f"inside the checkpoint '{STEP}'"),
    sealed("parameters onto what a run goes on from", [*RUN, *RESUMED, "--save", RANK], "--save",
           STEP),
    sealed("a log onto a manifest", [*RUN, "--log", f"{STEP}/manifest.json"], "--log", STEP),
    sealed("folders of a run in its bundle",
           [*MINE, "--checkpoints", "mine", "--tensorboard-dir", "mine/new", "--flight", "mine",
            "--data-cache-path", "mine/programs", "--dump", "init", STEP],
           "--checkpoints 'mine': it is the bundle 'mine'",
           "--tensorboard-dir 'mine/new': it is inside the bundle", "--flight 'mine'",
           "--data-cache-path 'mine/programs': it is inside the bundle 'mine'",
           "--dump init", STEP),
    sealed("folders of a run in the bundle of another one", [*RUN, "--checkpoints", "mine/ck"],
           "inside the bundle 'mine'"),
    sealed("a run in a checkpoint", [*RUN, "--load", "ck", "--checkpoints", STEP],
           f"--checkpoints '{STEP}': it is the checkpoint"),
    sealed("a run at the name of a checkpoint",
           [*RUN, "--load", "ck", "--checkpoints", "ck/step-00000009/"],
           "it is the checkpoint 'ck/step-00000009'"),
    sealed("records in a checkpoint to be",
           [*RUN, "--checkpoints", "new", "--flight", "new/step-00000001/flight"],
           "inside the checkpoint 'new/step-00000001'"),
    sealed("IR of all phases in a bundle",
           ["compile", "tiny.toml", "--gbs", 2, "--save-ir", "mine/ir", "-o", "out"], "--save-ir",
           "inside the bundle 'mine'"),
    sealed("a bundle in a checkpoint", ["compile", "tiny.toml", "--gbs", 2, "-o", f"{STEP}/b"],
           "--output", STEP),
    sealed("a corpus in a bundle", ["data", "clean", "tiny.toml", "--documents", "lines",
                                    "--output", "mine/texts"],
           "--output", "inside the bundle 'mine'"),
]


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
                                    "mine/manifest.json"], ["inside the bundle 'mine'"], own_bundle),
    Case("files: IR that was edited stays",
         ["compile", EDITED, "--compile-to", "plan-memory", "--save-ir", "ir", "-o", "-"],
         0, [], saved_ir, ("ir/*",)),
]


CASES = CLASHES + KEPT + COMPILED + SEALED
