#!/usr/bin/env python3
"""Megatron-core's own reader reads what mtc data writes.

Needs Python >= 3.12 with megatron-core 0.19.2, torch, triton and numpy (PyPI).

    read_back.py ../../../build/bin/mtc --cases 200 [--seed N]

A case is random texts, as JSON lines, which `mtc data` tokenizes by bytes: with and without
a token behind each document, in u16 and i32, empty documents among them; some behind `filter`,
some of several corpora that `merge` joined. Of each corpus IndexedDataset must give every
token, every length of a sequence and every index of a document, mapped into memory and not.
What is expected follows from the texts alone.
"""

import argparse
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import numpy
from megatron.core.datasets.indexed_dataset import IndexedDataset

END = 256  # the token that ends documents, of bytes
LETTERS = "abcdefghijklmnopqrstuvwxyz     .,\n\u00e9\u4e2d\U0001f600"


class Files:
    def __init__(self, mtc, folder):
        self.mtc, self.folder = mtc, folder

    def call(self, *arguments):
        subprocess.run([self.mtc, "data", *map(str, arguments), "--quiet"], check=True,
                       capture_output=True, cwd=self.folder)

    def texts(self, name, texts):
        with open(os.path.join(self.folder, name), "w") as file:
            for text in texts:
                print(json.dumps({"text": text}), file=file)

    def tokenize(self, name, prefix, options):
        self.call("tokenize", name, "--tokenizer", "bytes", "--output-prefix", prefix, *options)
        return f"{prefix}_text_document"


def random_texts(draw):
    longest = draw.choice((3, 40, 2000))
    return ["".join(draw.choices(LETTERS, k=draw.randint(0, longest)))
            for _ in range(draw.randint(1, 30))]


def documents(texts, end):
    """The tokens of each; an empty one has no sequence."""
    return [[*text.encode(), *([END] if end and text else [])] for text in texts]


def case(files, draw):
    """The name of a corpus, and the documents that it must have."""
    end = draw.random() < 0.5
    dtype = draw.choice(("u16", "i32"))
    options = ["--dtype", dtype, *(["--append-eod"] if end else [])]
    kind = draw.choice(("tokenize", "filter", "merge"))
    if kind != "merge":
        texts = random_texts(draw)
        files.texts("in.jsonl", texts)
        name = "in.jsonl"
        if kind == "filter":
            least = draw.randint(1, 50)
            files.call("filter", name, "--tokenizer", "bytes", "--min-tokens", least, "-o",
                       "kept.jsonl")
            name, texts = "kept.jsonl", [t for t in texts if len(t.encode()) >= least]
        return kind, dtype, files.tokenize(name, "one", options), documents(texts, end)
    parts, expected = [], []
    for i in range(draw.randint(2, 4)):
        texts = random_texts(draw)
        files.texts("in.jsonl", texts)
        parts.append(files.tokenize("in.jsonl", f"part{i}", options))
        expected += documents(texts, end)
    files.call("merge", *parts, "--output-prefix", "all")
    return kind, dtype, "all", expected


def differences(path, dtype, expected, mmap):
    found = IndexedDataset(path, mmap=mmap)
    sequences = [document for document in expected if document]
    if found.index.dtype is not {"u16": numpy.uint16, "i32": numpy.int32}[dtype]:
        yield f"type {found.index.dtype}"
    if len(found) != len(sequences):
        yield f"{len(found)} sequences, expected {len(sequences)}"
        return
    bounds = [0]
    for document in expected:
        bounds.append(bounds[-1] + bool(document))
    if found.document_indices.tolist() != bounds:
        yield f"documents {found.document_indices.tolist()}, expected {bounds}"
    if found.sequence_lengths.tolist() != [len(sequence) for sequence in sequences]:
        yield "other lengths"
    for i, sequence in enumerate(sequences):
        if found[i].tolist() != sequence:
            yield f"sequence {i} has other tokens"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mtc", type=os.path.abspath)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    counts, tokens, entries, failed = {}, 0, 0, 0
    for number in range(options.cases):
        with tempfile.TemporaryDirectory() as folder:
            kind, dtype, name, expected = case(Files(options.mtc, folder), draw)
            counts[kind] = counts.get(kind, 0) + 1
            tokens += sum(map(len, expected))
            entries += len(expected)
            # It maps no file without a byte.
            for mmap in ((True, False) if any(expected) else (False,)):
                for problem in differences(os.path.join(folder, name), dtype, expected, mmap):
                    failed += 1
                    print(f"case {number}, {kind} {dtype}: {problem}")
    made = ", ".join(f"{count} of {kind}" for kind, count in sorted(counts.items()))
    print(f"{options.cases} corpora ({made}): {entries} documents, {tokens} tokens, mapped and read; "
          f"{failed} differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
