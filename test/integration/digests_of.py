"""XXH3-128, which the manifests of bundles have, by the library that mtc uses."""

import ctypes
import ctypes.util
import json
import os


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def library():
    found = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    found.XXH3_128bits.restype = Hash
    found.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return found


XXHASH = library()


def digest(content):
    """As in a manifest: 32 digits."""
    value = XXHASH.XXH3_128bits(content, len(content))
    return f"{value.high:016x}{value.low:016x}"


def sign(folder):
    """Gives an edited bundle the digests of what it holds now, so that it is judged by
    more than them. What is no manifest stays as it is."""
    path = os.path.join(folder, "manifest.json")
    try:
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        files = manifest["files"]
    except (OSError, ValueError, TypeError, KeyError):
        return
    for name in files:
        if os.path.exists(os.path.join(folder, name)):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = digest(file.read())
    manifest.pop("digest", None)  # its own
    with open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file)
