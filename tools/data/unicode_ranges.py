#!/usr/bin/env python3
"""Writes unicode_ranges.cpp: which code points are letters, numbers and white space.

The categories are those that the regular expressions of tiktoken and of Hugging Face's
tokenizers know (Unicode 16), asked one code point at a time; the two must agree. Needs
`pip install tiktoken tokenizers`; nothing of them is needed to build or to use mtc.

usage: unicode_ranges.py > unicode_ranges.cpp
"""

import sys

import tiktoken
from tokenizers.pre_tokenizers import ByteLevel

PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
NEIGHBOURS = {"letter": "a", "number": "1", "other": "!"}  # what joins a word of its kind
HEADER = """//===- unicode_ranges.cpp - categories of code points ---------------------===//
//
// Written by unicode_ranges.py: ranges of code points, first and last, of the
// Unicode 16 categories L* and N* and of White_Space.
//
//===----------------------------------------------------------------------===//

#include "tools/data/unicode.h"

namespace mtc::data {

// clang-format off
"""


def encoding_that_joins(neighbour):
    """Of a text `neighbour` + x its first token is above 255 if both are one word."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {neighbour.encode() + bytes([byte]): 256 + byte for byte in range(256)}
    return tiktoken.Encoding(neighbour, pat_str=PATTERN, mergeable_ranks=ranks,
                             special_tokens={})


def by_tiktoken(encodings, text):
    return next((kind for kind, before in NEIGHBOURS.items()
                 if encodings[kind].encode_ordinary(before + text)[0] > 255), "space")


def by_tokenizers(splitter, text):
    return next((kind for kind, before in NEIGHBOURS.items()
                 if len(splitter.pre_tokenize_str(before + text)) == 1), "space")


def kinds():
    encodings = {kind: encoding_that_joins(n) for kind, n in NEIGHBOURS.items()}
    splitter = ByteLevel(add_prefix_space=False)
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:  # surrogates are in no text
            yield "other"
            continue
        kind = by_tiktoken(encodings, chr(code))
        if by_tokenizers(splitter, chr(code)) != kind:
            sys.exit(f"U+{code:04X} is {kind} for tiktoken and not for tokenizers")
        yield kind


def ranges(all_kinds, wanted):
    found = []
    for code, kind in enumerate(all_kinds):
        if kind != wanted:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, rows):
    lines, line = [], " "
    for first, last in rows:
        cell = f" {{0x{first:X}, 0x{last:X}}},"
        if len(line) + len(cell) > 100:
            lines.append(line)
            line = " "
        line += cell
    lines.append(line)
    body = "\n".join(lines)
    return f"static constexpr CodeRange k{name}[] = {{\n{body}\n}};\n"


def getter(name):
    return (f"std::span<const CodeRange> {name[0].lower() + name[1:]}Ranges() "
            f"{{ return k{name}; }}\n")


def main():
    all_kinds = list(kinds())
    names = {"Letter": "letter", "Number": "number", "Space": "space"}
    tables = "\n".join(table(name, ranges(all_kinds, kind)) for name, kind in names.items())
    getters = "".join(map(getter, names))
    print(f"{HEADER}{tables}// clang-format on\n\n{getters}\n}} // namespace mtc::data")


if __name__ == "__main__":
    main()
