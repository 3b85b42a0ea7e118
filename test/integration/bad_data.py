"""Files of tokens that cannot be trained on."""

import os

from bad_case import Case

USAGE, REJECTD = 2, 3


def data(content):
    return lambda place: place.write("tokens.bin", content)


def run(bundle, *options):
    if "--order" not in options:
        options = (*options, "--order", "sequential")
    return ["run", bundle, "--data", "tokens.bin", "--steps", 5, "--quiet",
            "--log", "log.jsonl", "--save", "out.safetensors", *options]


def case(name, content, says, bundle="one", options=("--data-type", "u8"),
         leaves=(), code=REJECTD):
    return Case(name, run(bundle, *options), code, says, data(content), leaves)


# Found before the run: nothing is left, not even a log.
BEYOND = bytes(100) + b"\xff" + bytes(399)
CASES = [
    Case("data: none given", ["run", "one", "--steps", 2], USAGE,
         ["no token file", "--data"]),
    Case("data: no such file", run("one"), REJECTD,
         ["tokens.bin", "No such file"]),
    Case("data: a folder", run("one"), REJECTD, ["tokens.bin", "regular file"],
         lambda place: place.write("tokens.bin/inside", "")),
    Case("data: a pipe that nobody writes", run("one"), REJECTD,
         ["tokens.bin", "regular file"],
         lambda place: os.mkfifo(place.path("tokens.bin"))),
    case("data: empty", b"", ["tokens.bin", "is empty", "at least 17 tokens"]),
    case("data: shorter than a window", bytes(16),
         ["tokens.bin", "16 tokens", "needs 17", "seq + 1"]),
    case("data: shorter than a window, four ranks", bytes(16),
         ["tokens.bin", "16 tokens", "needs 17"], "two"),
    case("data: no whole tokens", bytes(101),
         ["tokens.bin", "101 bytes", "2 bytes", "u16", "--data-type"], "one",
         ("--data-type", "u16")),
    case("data: no whole tokens of four bytes", bytes(102),
         ["tokens.bin", "102 bytes", "4 bytes", "i32"], "one",
         ("--data-type", "i32")),
    case("data: unknown type", bytes(500), ["data_dtype", "one of u8, u16, i32", "u32"],
         "one", ("--data-type", "u32"), (), USAGE),
    case("data: unknown order", bytes(500), ["order", "one of shuffled, sequential",
                                             "random"],
         "one", ("--order", "random"), (), USAGE),
    case("data: a token beyond the vocabulary", BEYOND,
         ["tokens.bin", "found 255", "position 100", "from 0 to 63",
          "vocabulary size 64", "--data-type"]),
    case("data: a token beyond the vocabulary, four ranks", BEYOND,
         ["tokens.bin", "found 255", "position 100", "vocabulary size 64"], "two"),
    case("data: a token beyond the vocabulary, threads", BEYOND,
         ["tokens.bin", "found 255", "position 100"],
         "two", ("--data-type", "u8", "--comm", "threads")),
    case("data: bytes read as tokens of two bytes", bytes(range(64)) * 10,
         ["tokens.bin", "vocabulary size 64", "more"], "one", ("--data-type", "u16")),
    case("data: a negative token", b"\0" * 12 + b"\xff" * 4 + bytes(4000),
         ["found -1", "position 3"], "one", ("--data-type", "i32")),
]
