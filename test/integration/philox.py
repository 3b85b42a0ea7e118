"""Dropout masks from docs/numerics.md alone: shares nothing with the runtime."""

WORD = 0xFFFFFFFF

# Counter, key and output: the vectors of the authors' Random123 for Philox4x32-10.
KNOWN_ANSWERS = (
    ((0, 0, 0, 0), (0, 0),
     (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD, WORD),
     (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)))


def philox4x32(counter, key):
    """Ten rounds; words are integers below 2^32."""
    a, b, c, d = counter
    k, l = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = q >> 32 ^ b ^ k, q & WORD, p >> 32 ^ d ^ l, p & WORD
        k, l = k + 0x9E3779B9 & WORD, l + 0xBB67AE85 & WORD
    return a, b, c, d


def mask(seed, sample, layer, site, elements, rate):
    """One byte an element of the unpartitioned sample: 1 where it is kept. The
    number of elements is a multiple of 4."""
    least = int(rate * 2**32)
    kept = bytearray()
    for block in range(elements // 4):
        words = philox4x32((block & WORD, block >> 32 << 24 | layer << 8 | site,
                            sample & WORD, sample >> 32),
                           (seed & WORD, seed >> 32))
        kept += bytes(word >= least for word in words)
    return bytes(kept)
