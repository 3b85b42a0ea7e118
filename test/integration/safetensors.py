"""Reads safetensors files with the standard library only."""

import array
import hashlib
import json
import struct
from math import sqrt
from operator import mul, sub

# array.array type codes; all little-endian, as the hosts of the tests are.
CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i"}


class Tensor:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, shape, data

    def values(self):
        values = array.array(CODES[self.dtype])
        values.frombytes(self.data)
        return values


def read(path):
    """All tensors of a file by name."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        data = content[8 + length + begin:8 + length + end]
        tensors[name] = Tensor(entry["dtype"], entry["shape"], data)
    return tensors


def norm(values):
    return sqrt(sum(map(mul, values, values)))


def finite(error):
    """An error to compare with `<=` and `max`: infinity for NaN, lest it pass."""
    return float("inf") if error != error else error


def distance(a, b):
    difference = array.array("d", map(sub, a, b))
    return norm(difference)


def digest(tensors):
    """A hash of names, shapes and bits of all tensors."""
    state = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        state.update(f"{name} {tensor.dtype} {tensor.shape}\n".encode())
        state.update(tensor.data)
    return state.hexdigest()


def worst_gradient(expected, actual, bound, floor):
    """Compares gradients, dicts of name to values: each must satisfy
    |g - g'| <= bound * max(|g|, floor * global norm). Returns the largest ratio of
    the left side to the right one, and the name of its parameter; a ratio above 1
    is a violation. Names must be equal."""
    if set(expected) != set(actual):
        raise ValueError("parameters differ: "
                         + ", ".join(sorted(set(expected) ^ set(actual))))
    norms = {name: norm(values) for name, values in expected.items()}
    least = floor * sqrt(sum(n * n for n in norms.values()))
    worst = (0.0, "none")
    for name, values in expected.items():
        if len(values) != len(actual[name]):
            return float("inf"), f"{name} (expected {len(values)} elements, " \
                                 f"found {len(actual[name])})"
        ratio = distance(values, actual[name]) / (bound * max(norms[name], least))
        worst = max(worst, (finite(ratio), name))
    return worst


def write(path, tensors):
    """Writes tensors of 32-bit floats: name to (shape, array of code "f")."""
    header, offset = {}, 0
    for name, (shape, values) in tensors.items():
        end = offset + 4 * len(values)
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            file.write(values.tobytes())
