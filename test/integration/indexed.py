"""Megatron-LM's .bin and .idx, and llm.c's .bin, by the standard library only."""

import struct


def write_corpus(prefix, documents, code=8):
    """Documents are lists of tokens, one sequence each; code 8: u16, 4: i32."""
    kind = {8: "H", 4: "i"}[code]
    lengths = [len(document) for document in documents]
    pointers, at = [], 0
    with open(prefix + ".bin", "wb") as file:
        for document in documents:
            pointers.append(at)
            at += file.write(struct.pack(f"<{len(document)}{kind}", *document))
    with open(prefix + ".idx", "wb") as file:
        count = len(documents)
        file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, count, count + 1))
        file.write(struct.pack(f"<{count}i", *lengths) + struct.pack(f"<{count}q", *pointers))
        file.write(struct.pack(f"<{count + 1}q", *range(count + 1)))


def write_llmc(path, tokens):
    header = [20240520, 1, len(tokens)] + [0] * 253
    with open(path, "wb") as file:
        file.write(struct.pack("<256i", *header) + struct.pack(f"<{len(tokens)}H", *tokens))
