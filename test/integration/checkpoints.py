"""Reads checkpoints with the standard library only: tensors from the pieces of all ranks."""

import array
import itertools
import json
import os
import struct
from math import prod

MANIFEST = "manifest.json"


def steps(folder):
    """Steps of the checkpoints in a folder, ascending."""
    return sorted(int(name[5:]) for name in os.listdir(folder)
                  if name.startswith("step-") and "." not in name)


def of_step(folder, step):
    return os.path.join(folder, f"step-{step:08}")


def rank_files(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith(".safetensors"))


def manifest(folder):
    with open(os.path.join(folder, MANIFEST)) as file:
        return json.load(file)


def box_indices(shape, begin, size):
    """Row-major indices in a tensor of `shape` of the elements of a box, in their order."""
    strides = [prod(shape[d + 1:]) for d in range(len(shape))]
    axes = [[(b + i) * s for i in range(n)] for b, n, s in zip(begin, size, strides)]
    return [sum(at) for at in itertools.product(*axes)] if shape else [0]


def in_tensor(index, part):
    """The index in the tensor of which something is a slice."""
    row = prod(part["shape"][part["dim"] + 1:])
    own = row * part["size"]
    return (index // own * row * part["shape"][part["dim"]] + row * part["first"]
            + index % own)


def pieces(path):
    """Of a rank's file: what each piece says, and its elements."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    seen = set()
    for number, piece in enumerate(json.loads(header["__metadata__"]["pieces"])):
        name = piece["name"] if piece["name"] not in seen else f"{piece['name']} [{number}]"
        seen.add(piece["name"])
        begin, end = header[name]["data_offsets"]
        yield piece, array.array("I", content[8 + length + begin:8 + length + end])


def tensors(folder):
    """Bits of all tensors of a checkpoint, by name. ValueError: an element was written
    twice or not at all."""
    found = {}
    for path in rank_files(folder):
        for piece, bits in pieces(path):
            part = piece.get("slice")
            shape = part["shape"] if part else piece["shape"]
            whole = found.setdefault(part["of"] if part else piece["name"],
                                     [None] * prod(shape))
            first = piece["start"]
            indices = box_indices(piece["shape"], piece["begin"], piece["size"])
            for index, value in zip(indices[first:first + piece["count"]], bits, strict=True):
                at = in_tensor(index, part) if part else index
                if whole[at] is not None:
                    raise ValueError(f"{path}: element {at} of {piece['name']} twice")
                whole[at] = value
    for name, whole in found.items():
        if None in whole:
            raise ValueError(f"{folder}: element {whole.index(None)} of {name} is missing")
    return {name: array.array("I", whole) for name, whole in found.items()}
