"""Files of tokens that cannot be trained on."""

import os

from bad_case import Case
from indexed import write_corpus

USAGE, REJECTD, INFEASIBLE, WRITE_FAILED = 2, 3, 4, 18


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


LLMC = (20240520).to_bytes(4, "little") + (1).to_bytes(4, "little")


def patch(name, at, content):
    """Writes over bytes of a file."""
    def change(place):
        with open(place.path(name), "r+b") as file:
            file.seek(at)
            file.write(content)
    return change


def corpus(name, change, says, bundle="one", options=(), code=REJECTD):
    """A corpus of 30 sequences, and what becomes of it."""
    def make(place):
        write_corpus(place.path("set"), [[i] * 20 for i in range(30)])
        if change:
            change(place)
    command = ["run", bundle, "--steps", 5, "--quiet", "--log", "log.jsonl",
               *(() if "--data" in options else ("--data", "set")), *options]
    if "--steps" in options:
        command = command[:2] + command[4:]
    leaves = () if "indices cannot" in name else ("set.indices*",)
    return Case(name, command, code, says, make, leaves)


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
    case("data: unknown type", bytes(500), ["data_dtype", "one of u8, u16, i32, u32", "f32"],
         "one", ("--data-type", "f32"), (), USAGE),
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
    case("data: llm.c's file with fewer tokens than it says",
         LLMC + (600).to_bytes(4, "little") + bytes(1012 + 1000),
         ["tokens.bin", "expected 2224 bytes", "600 tokens", "found 2024"]),
    case("data: a split of a flat file", bytes(500), ["--split", "tokens.bin"], "one",
         ("--data-type", "u8", "--split", "9,1"), (), USAGE),
    case("evaluation while training: of what", bytes(500),
         ["--eval-interval", "--eval-data", "--split"], "one",
         ("--data-type", "u8", "--eval-interval", 2), (), USAGE),
    case("evaluation while training: longer than its data", bytes(500),
         ["--eval-steps 99", "at most", "tokens.bin"], "one",
         ("--data-type", "u8", "--eval-interval", 2, "--eval-steps", 99,
          "--eval-data", "tokens.bin"), (), USAGE),
    case("evaluation while training: data that are never read", bytes(500),
         ["--eval-data", "--eval-interval"], "one",
         ("--data-type", "u8", "--eval-data", "tokens.bin"), (), USAGE),
    corpus("corpus: another version", patch("set.idx", 9, b"\2"),
           ["set.idx", "version at byte 9", "expected 1, found 2"]),
    corpus("corpus: a length of less than nothing", patch("set.idx", 34, b"\xff" * 4),
           ["set.idx", "length of sequence 0", "found -1"], "two"),
    corpus("corpus: tokens are missing", lambda place: os.truncate(place.path("set.bin"), 40),
           ["set.bin", "found 40 bytes", "set.idx"]),
    corpus("corpus: without tokens", lambda place: os.remove(place.path("set.bin")),
           ["set.bin", "No such file"]),
    corpus("corpus: a token beyond the vocabulary", patch("set.bin", 20, b"\xff\xff"),
           ["set.bin", "found 65535", "position 10", "vocabulary size 64"], "two"),
    corpus("corpus: a part without sequences", None, ["'set'", "part 'train'", "0 tokens"],
           options=("--split", "0,1")),
    corpus("corpus: no split", None, ["split '3,x'", "969,30,1"], options=("--split", "3,x"),
           code=USAGE),
    corpus("corpus: a seed of more than 32 bits", None, ["--seed", "4294967295"],
           options=("--seed", 2**32), code=USAGE),
    corpus("corpus: an order for fewer samples than are read", None,
           ["--data-samples 3", "at least"], options=("--data-samples", 3), code=USAGE),
    corpus("corpus: more steps than memory", None, ["'set'", "of memory"],
           options=("--steps", 10**13), code=INFEASIBLE),
    corpus("corpus: indices cannot be kept", lambda place: place.write("set.indices", ""),
           ["set.indices", "--data-cache-path"], code=WRITE_FAILED),
    corpus("corpus: a blend with one that is not there", None, ["--data", "none of 'b'"],
           options=("--data", "0.5 set 0.5 b")),
    corpus("corpus: a blend with a weight of nothing", None, ["weight above 0", "found '0'"],
           options=("--data", "0.5 set 0 set"), code=USAGE),
    corpus("corpus: a blend whose weights are too large together", None,
           ["--data: expected weights with a finite sum", "smaller ones"],
           options=("--data", "1e308 set 1e308 set"), code=USAGE),
]
