"""Tokens to train on."""

import random

SEQ, WINDOWS = 32, 3000


def write(path):
    """A file of one byte a token, the same at every call. Tokens < 250: a rule that
    holds for 7 of 10 tokens, so there is something to learn, and noise."""
    generator = random.Random(20)
    tokens, token = bytearray(), 1
    for _ in range(WINDOWS * SEQ + 1):
        rule = generator.random() < 0.7
        token = (3 * token + 7) % 250 if rule else generator.randrange(250)
        tokens.append(token)
    with open(path, "wb") as file:
        file.write(tokens)
