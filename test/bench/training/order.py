"""The order of samples, written again from docs/training.md and docs/numerics.md."""

WORD = 0xFFFFFFFF


def philox(counter, seed):
    """Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"."""
    a, b, c, d = counter
    key0, key1 = seed & WORD, seed >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (second >> 32 ^ b ^ key0, second & WORD,
                      first >> 32 ^ d ^ key1, first & WORD)
        key0, key1 = key0 + 0x9E3779B9 & WORD, key1 + 0xBB67AE85 & WORD
    return a, b, c, d


def permuted(index, size, seed, epoch):
    """A Feistel network of eight rounds; values outside [0, size) walk on."""
    half = 1
    while 1 << 2 * half < size:
        half += 1
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for step in range(8):
            counter = (right, 0xFFFF80 + step, epoch & WORD, epoch >> 32)
            left, right = right, (left ^ philox(counter, seed)[0]) & mask
        index = left << half | right
        if index < size:
            return index


def window(sample, windows, order, seed):
    index = sample % windows
    if order == "sequential":
        return index
    return permuted(index, windows, seed, sample // windows)
