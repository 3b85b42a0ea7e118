#!/usr/bin/env python3
"""Inputs for fuzzers to begin with. usage: seeds.py TARGET FOLDER"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from event_files import record
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
    return read(os.path.join(HERE, "..", "golden", name))


def byte_pairs(_):
    """Of an even length: merges, and text; else a vocabulary."""
    yield "merges", golden("tokenizer/merges.txt")[:400]
    yield "text", b"t h\nh e\nth e\nthethehe the the "
    yield "vocabulary", golden("tokenizer/vocab.json")[:2901]


def text_line(_):
    for number, line in enumerate(golden("clean/golden.jsonl").splitlines()[:5]):
        yield str(number), line
    yield "nested", b'{"a":[1,{"b":"\\u00e9\\ud83d\\ude00"}],"text":"x\\n\\u0041 y"}'


def frame(kind, payload):
    return struct.pack("<IB", len(payload) + 1, kind) + payload


def text(value):
    return struct.pack("<I", len(value)) + value


def wire_frames(_):
    """The size of pieces, and a stream."""
    failure = struct.pack("<I", 2) + text(b"aborted") + b"\x0c" + text(b"rank 2 died")
    failure += struct.pack("<III", 2, 0, 1)
    yield "job", (b"\x05" + frame(6, struct.pack("<qq", 7, 0)) +
                  frame(7, struct.pack("<II", 0, 1) + text(b"given")) + frame(8, failure) +
                  frame(9, b"\0" + text(b"")))
    yield "challenge", b"\1" + frame(1, b"MTCR" + struct.pack("<H", 2) + bytes(16))
    yield "hello", b"\x3f" + frame(2, b"MTCR" + struct.pack("<H", 2) + bytes(16) +
                                   struct.pack("<II", 1, 2) + text(b"plan") + text(b"bundle") +
                                   text(b"host") + bytes(32))


def run_log(_):
    yield "log", (b'{"header": 1, "start_step": 0}\n{"step": 1, "loss": 2.5, "grad_norm": null}\n'
                  b'{"step": 2, "loss": 2.25}\n{"header": 1, "start_step": 1}\n'
                  b'{"step": 2, "loss": 2.5}\n{"eval_loss": 3, "step": 2}\n{"header": 1}\n'
                  b'{"step": 1, "loss": 1e3')


def event_file(_):
    """Whether the rest is one event without its length and checksums, then the bytes."""
    def event(step, *fields):
        return (b"\x09" + struct.pack("<d", 10) + b"\x10" + bytes([step]) + b"".join(fields))

    def message(number, content):
        return bytes([number << 3 | 2, len(content)]) + content

    start = event(1, message(7, b"\x08\x01"))
    scalar = event(2, message(5, message(1, message(1, b"train/loss") + b"\x15" +
                                         struct.pack("<f", 2.5))))
    yield "file", b"\0" + record(event(0, message(3, b"brain.Event:2"))) + record(start) + \
        record(scalar)
    yield "start", b"\1" + start
    yield "scalar", b"\1" + scalar


def tensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def safetensors(_):
    """The last byte says whether the length of the header is made right."""
    one = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    two = {"dtype": "BF16", "shape": [5], "data_offsets": [24, 34]}
    yield "one", tensors({"a": one, "__metadata__": {"format": "pt"}}, bytes(24))
    yield "two", tensors({"b": two, "a": one}, bytes(range(34)))
    yield "none", tensors({}, b"")


def checkpoint(_):
    """Without the digest at the end."""
    text = json.dumps({
        "format": "mtc checkpoint", "version": 2, "step": 3, "samples": 24, "tokens": 96,
        "skipped_steps": 1, "skipped_samples": 8, "mesh": "tp2", "model": "m",
        "loss_scaler": {"scale": 1024.0, "growth_tracker": 1, "hysteresis_tracker": 2},
        "plan_hash": "0123456789abcdef", "recipe": {"lr": "1e-3"}, "sums": ["0" * 32],
        "sample_orders": {"4": {"order": "shuffled"}}, "tensors": {"param/a": [2, 3]}})
    yield "whole", text.removesuffix("}").encode()


def elf(symbol, text):
    """An ELF file whose only symbol is a text: tables, names, symbols, the text."""
    names = b"\0" + symbol.encode() + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x11, 0, 1, 0x1000, len(text))
    sections = [(0, 0, 0, b""), (1, 0x1000, 0, text + b"\0"), (3, 0, 0, names), (2, 0, 2, symbols)]
    at, table, content = 64 + 64 * len(sections), b"", b""
    for kind, address, link, data in sections:
        table += struct.pack("<IIQQQQIIQQ", 0, kind, 2, address, at + len(content), len(data),
                             link, 0, 1, 24 if kind == 2 else 0)
        content += data
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, len(sections), 2)
    return header + table + content


def bundle(_):
    """The length of the manifest, the manifest, the program."""
    with open(os.path.join(HERE, "..", "unit", "runtime", "toy_descriptor.h")) as file:
        descriptor = file.read().split('R"(')[1].split(')"')[0]
    toy = json.loads(descriptor)
    text = json.dumps({
        "abi": toy["abi"], "plan_hash": toy["plan_hash"], "model": "toy", "mesh": toy["mesh"],
        "batch": toy["batch"], "programs": [{"stage": 0, "shared": "program",
                                             "executable": "program"}],
        "model_flops": [{"seq": 4, "per_token": 1.0}], "files": {"program": "@"}}).encode()
    small = json.dumps(toy, separators=(",", ":")).encode()
    yield "toy", struct.pack("<H", len(text)) + text + elf("mtc_descriptor", small)


def main():
    target, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, content in globals()[target](folder):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
