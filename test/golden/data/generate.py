#!/usr/bin/env python3
"""Indices of samples by megatron-core's own code, as digests.

Needs Python >= 3.12 with megatron-core 0.19.2, torch, triton, numpy and xxhash (PyPI).

    generate.py --cases 40 > gpt_cases.txt        the goldens of GptIndex.EqualsMegatrons
    generate.py --cases 1000 --seed 2 --against ../../../build/test/gpt_case_digests
                                                  compares that many others with ours

In the second form corpora are written by Megatron's builder and read by ours, which
holds their bytes to those that its own writer gives. A line is described in
test/unit/data/gpt_case.h.
"""

import argparse
import logging
import os
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import numpy
import torch
import xxhash
from megatron.core.datasets.blended_dataset import BlendedDataset
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder

MASK = 2**64 - 1
PARTS = ("train", "valid", "test")
TYPES = {"u16": numpy.uint16, "i32": numpy.int32}


class Tokenizer:
    """What GPTDataset asks of one."""

    vocab_size = 60000
    eod, pad = 0, 60001
    unique_identifiers = {"class": "Tokenizer"}


class SplitMix:
    def __init__(self, seed):
        self.state = seed

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)


def random_case(random):
    """A line without a digest."""
    corpora = random.choice([1, 1, 1, 1, 2, 2, 3, 9])
    weights = "-"
    if random.rand() < 0.7:
        weights = ",".join(f"{random.choice([0.3, 1, 2.5, 0.07, 10]) * random.rand():.4g}"
                           for _ in range(corpora))
    elif corpora % 2 == 0:
        corpora += 1
    texts = []
    for _ in range(corpora):
        sequences = random.choice([1, 5, 30, 200, 600])
        texts.append(f"{sequences}:{random.randint(2**31)}:{random.choice([3, 40, 300])}:"
                     f"{random.choice(list(TYPES))}")
    split = random.choice(["969,30,1", "1", "0.5,0.3,0.2", "90,10,0", "1,1,1", "98,2"])
    part = random.choice(PARTS)
    seq = random.choice([1, 2, 7, 32, 128, 1024])
    samples = random.choice([1, 3, 20, 77, 500, 3000])
    return f"{seq} {samples} {random.randint(2**32)} {split} {part} {weights} " + " ".join(texts)


def write_corpus(prefix, text):
    sequences, seed, longest, dtype = text.split(":")
    builder = IndexedDatasetBuilder(prefix + ".bin", dtype=TYPES[dtype])
    draw = SplitMix(int(seed))
    ended = True
    for _ in range(int(sequences)):
        length = draw() % (int(longest) + 1)
        builder.add_item(torch.tensor([draw() % 60000 for _ in range(length)], dtype=torch.int64))
        ended = draw() % 3 > 0
        if ended:
            builder.end_document()
    if not ended:
        builder.end_document()
    builder.finalize(prefix + ".idx")


def index_bytes(dataset):
    """All arrays of a dataset as 64-bit integers, and the tokens of the first samples."""
    parts = []
    corpora = dataset.datasets if isinstance(dataset, BlendedDataset) else [dataset]
    for corpus in corpora:
        parts += [corpus.document_index, corpus.sample_index, corpus.shuffle_index]
    if isinstance(dataset, BlendedDataset):
        parts += [dataset.dataset_index, dataset.dataset_sample_index]
    for k in range(min(4, len(dataset))):
        corpus, own = dataset, k
        if isinstance(dataset, BlendedDataset):
            corpus = dataset.datasets[dataset.dataset_index[k]]
            own = dataset.dataset_sample_index[k]
        parts.append(corpus._query_document_sample_shuffle_indices(own)[0])
    return b"".join(numpy.asarray(part).astype(numpy.int64).tobytes() for part in parts)


def digest_of(case, folder):
    """None where Megatron has no such samples."""
    try:
        return digest_of_samples(case, folder)
    except (AssertionError, IndexError, ValueError):  # ValueError: it maps no empty .bin
        return None


def digest_of_samples(case, folder):
    seq, samples, seed, split, part, weights, *texts = case.split()
    prefixes = []
    for number, text in enumerate(texts):
        prefixes.append(f"{folder}/{number}")
        write_corpus(prefixes[-1], text)
    weights = None if weights == "-" else [float(w) for w in weights.split(",")]
    part = PARTS.index(part)
    config = GPTDatasetConfig(
        random_seed=int(seed), sequence_length=int(seq), tokenizer=Tokenizer(),
        reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False,
        split=split, blend=(prefixes, weights), path_to_cache=f"{folder}/cache")
    config.split_matrix = [range_ if i == part else None
                           for i, range_ in enumerate(config.split_matrix)]
    if config.split_matrix[part] is None:
        return None
    for prefix in prefixes:  # of no token it would ask for epochs without end
        corpus = IndexedDataset(prefix)  # its arrays are gone with it
        lengths = corpus.sequence_lengths
        first, end = (int(round(share * float(len(lengths))))
                      for share in config.split_matrix[part])
        if lengths[first:end].sum() <= (int(seq) if weights is None and len(prefixes) > 1 else 0):
            return None
    sizes = [int(samples)] * 3
    dataset = BlendedMegatronDatasetBuilder(GPTDataset, sizes, lambda: True, config).build()[part]
    if weights is None and len(prefixes) > 1 and len(dataset) < int(samples):
        return None
    return xxhash.xxh3_128_hexdigest(index_bytes(dataset))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--against")
    args = parser.parse_args()
    random = numpy.random.RandomState(args.seed)
    done = wrong = refused = 0
    while done < args.cases:
        case = random_case(random)
        with tempfile.TemporaryDirectory() as folder:
            digest = digest_of(case, folder)
            if digest is None:
                refused += 1
                continue
            done += 1
            if not args.against:
                print(case, digest)
                continue
            ours = subprocess.run([args.against, folder], input=case + "\n", text=True,
                                  capture_output=True, check=True).stdout.strip()
            if ours != digest:
                wrong += 1
                print(f"{case}\n  expected {digest}, found {ours}")
    if args.against:
        print(f"{done} cases, {wrong} differ; {refused} drawn that Megatron refuses")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
