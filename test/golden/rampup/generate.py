#!/usr/bin/env python3
"""Global batches of growing runs, by megatron-core's own calculator.

Needs num_microbatches_calculator.py of megatron-core 0.12.0 (PyPI; later versions have no
ramp of this kind). The file needs nothing else:

    pip download --no-deps megatron-core==0.12.0
    python3 -m zipfile -e megatron_core-0.12.0-*.whl megatron
    generate.py megatron/megatron/core/num_microbatches_calculator.py > cases.txt

A line is a run: START INCREMENT SAMPLES LAST CONSUMED, and for each batch that its steps
have STEP:SAMPLE:BATCH, the first step with it, counted from 1 behind CONSUMED samples, and
the first sample of that.
"""

import importlib.util
import random
import sys

CASES, LONGEST = 150, 200_000  # runs, and steps of one before it reaches LAST


def load(path):
    spec = importlib.util.spec_from_file_location("calculator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RampupBatchsizeNumMicroBatchesCalculator


def parts(calculator, consumed, last):
    found, step = [], 1
    while True:
        calculator.update(consumed, True)
        batch = calculator.get_current_global_batch_size()
        if not found or found[-1][2] != batch:
            found.append((step, consumed, batch))
        if batch == last:
            return found
        if step == LONGEST:
            return None
        consumed += batch
        step += 1


def main():
    calculator = load(sys.argv[1])
    draw = random.Random(4)
    runs = [(32, 32, 9_765_625, 1536, 9_700_000), (16, 16, 1, 64, 0), (1, 1, 10, 11, 0),
            # Where a quotient of doubles is below the integer that it would be.
            (1, 1, 1602, 22, 534), (1, 1, 49, 22, 35), (1, 1, 576, 29, 576)]
    while len(runs) < CASES:
        start, increment = draw.choice((1, 2, 8, 32, 37)), draw.choice((1, 3, 16, 32, 100))
        samples = draw.choice((draw.randint(1, 300), draw.randint(1, 10**5)))
        last = start + increment * draw.randint(1, 9)
        consumed = draw.choice((0, 0, draw.randint(0, samples + 10)))
        runs.append((start, increment, samples, last, consumed))
    for start, increment, samples, last, consumed in runs:
        run = parts(calculator(last, 1, 1, False, 1, start, increment, samples), consumed, last)
        if run:
            print(start, increment, samples, last, consumed,
                  *(f"{step}:{sample}:{batch}" for step, sample, batch in run))


if __name__ == "__main__":
    main()
