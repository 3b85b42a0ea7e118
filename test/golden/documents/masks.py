#!/usr/bin/env python3
"""Masks and positions of samples with documents by megatron-core's own code.

Needs Python >= 3.12 with megatron-core 0.19.2 and torch (PyPI).

    masks.py > masks.txt        the goldens of StepDocuments.AreMegatrons

A line has the tokens of a sample and its last label, in which 0 ends documents, and of each
token, with commas between: whether its loss counts, its position, and the first key that it
sees. Whoever sees a key sees all up to itself; the script looks at that.
"""
import logging
import random
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import torch
from megatron.core.datasets.gpt_dataset import _get_ltor_masks_and_position_ids

EOD = 0
GIVEN = ([1] * 9, [EOD] * 9, [EOD] + [1] * 8, [1] * 7 + [EOD, 1], [1] * 8 + [EOD],
         [1, 1, EOD, EOD, 1, EOD, 1, 1, EOD], [EOD, 1], [1, EOD])


def samples():
    yield from GIVEN
    draw = random.Random(5)
    for _ in range(40):
        ends = draw.choice((0.05, 0.2, 0.6))
        yield [EOD if draw.random() < ends else draw.randint(1, 9)
               for _ in range(draw.randint(2, 41))]


def main():
    for tokens in samples():
        hidden, counts, positions = _get_ltor_masks_and_position_ids(
            torch.tensor(tokens[:-1]), EOD, True, True, True, True)
        seen = ~hidden[0]
        first = seen.int().argmax(dim=1)
        for query, row in enumerate(seen):
            assert row.tolist() == [first[query] <= key <= query for key in range(len(row))]
        print(*(",".join(str(int(value)) for value in part)
                for part in (tokens, counts, positions, first)))


if __name__ == "__main__":
    main()
