#!/usr/bin/env python3
"""Inputs for fuzzers to begin with. usage: seeds.py TARGET FOLDER"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "integration"))
from indexed import write_corpus, write_llmc


def read(path):
    with open(path, "rb") as file:
        return file.read()


def indexed_dataset(folder):
    path = os.path.join(folder, "set")
    for name, documents in {"one": [[1, 2, 3, 4, 5]], "some": [[7] * 9, [], [1, 2], [3]],
                            "none": []}.items():
        write_corpus(path, documents)
        tokens, index = read(path + ".bin"), read(path + ".idx")
        yield name, struct.pack("<H", len(tokens)) + tokens + index
        os.remove(path + ".bin")
        os.remove(path + ".idx")


def index_file(_):
    header = b"mtcindex" + struct.pack("<II", 1, 1) + b"k" * 32 + b"d" * 32
    yield "one", header + struct.pack("<QQ", 3, 4) + b"h" * 32 + bytes(12)


def flat_file(folder):
    path = os.path.join(folder, "flat")
    write_llmc(path, list(range(20)))
    whole = read(path)
    os.remove(path)
    yield "raw", bytes(range(100))
    yield "llmc", whole[:12] + whole[1024:]


def golden(name):
    return read(os.path.join(os.path.dirname(__file__), "..", "golden", name))


def byte_pairs(_):
    """Of an even length: merges, and text; else a vocabulary."""
    yield "merges", golden("tokenizer/merges.txt")[:400]
    yield "text", b"t h\nh e\nth e\nthethehe the the "
    yield "vocabulary", golden("tokenizer/vocab.json")[:2901]


def text_line(_):
    for number, line in enumerate(golden("clean/golden.jsonl").splitlines()[:5]):
        yield str(number), line
    yield "nested", b'{"a":[1,{"b":"\\u00e9\\ud83d\\ude00"}],"text":"x\\n\\u0041 y"}'


def main():
    target, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, content in globals()[target](folder):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
