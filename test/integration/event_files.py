"""Reads event files of TensorBoard, from the format and not from the writer: records with
checksums, and of the protocol buffers in them what a scalar needs."""

import struct


class Damaged(Exception):
    pass


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff


def masked(data):
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xa282ead8) & 0xffffffff


def record(body):
    length = struct.pack("<Q", len(body))
    return (length + struct.pack("<I", masked(length)) + body +
            struct.pack("<I", masked(body)))


def records(data):
    at = 0
    while at < len(data):
        if len(data) - at < 12:
            raise Damaged(f"{len(data) - at} bytes at {at}: no record")
        length, head = struct.unpack_from("<QI", data, at)
        if masked(data[at:at + 8]) != head:
            raise Damaged(f"checksum of the length at {at}")
        body, (tail,) = data[at + 12:at + 12 + length], struct.unpack_from(
            "<I", data, at + 12 + length)
        if masked(body) != tail:
            raise Damaged(f"checksum of the record at {at}")
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a message: an integer, or the bytes of 4, 8 or more."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise Damaged("a field is longer than its message")
        yield key >> 3, value


def events(path):
    """Of each event a dict: time, step, and version, start or scalars by tag."""
    with open(path, "rb") as file:
        data = file.read()
    for body in records(data):
        event = {"step": 0, "scalars": {}, "texts": {}}
        for number, value in fields(body):
            if number == 1:
                event["time"], = struct.unpack("<d", value)
            elif number == 2:
                event["step"] = value
            elif number == 3:
                event["version"] = value.decode()
            elif number == 7:
                event["start"] = dict(fields(value)) == {1: 1}
            elif number == 5:
                for _, summary in fields(value):
                    parts = dict(fields(summary))
                    tag = parts[1].decode()
                    if 2 in parts:
                        event["scalars"][tag], = struct.unpack("<f", parts[2])
                    else:
                        event["texts"][tag] = dict(fields(parts[8]))[8].decode()
        yield event
