#!/usr/bin/env python3
"""mtc data: what its actions write and say, against readers and rules written here.

usage: test_data_tools.py BIN_DIR GOLDEN_DIR
"""

import json
import os
import struct

from data_tools import REJECTED, UNWRITTEN, USAGE, run_checks

TYPES = {4: "i", 8: "H"}  # codes of an .idx as letters of struct


def index_of(documents, code):
    """The .idx of documents, one sequence each that has tokens (formats of Megatron-LM)."""
    lengths = [len(d) for d in documents if d]
    size = struct.calcsize(TYPES[code])
    pointers = [size * sum(lengths[:i]) for i in range(len(lengths))]
    starts = [0]
    for document in documents:
        starts.append(starts[-1] + (1 if document else 0))
    return (b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(lengths), len(starts))
            + struct.pack(f"<{len(lengths)}i", *lengths)
            + struct.pack(f"<{len(lengths)}q", *pointers)
            + struct.pack(f"<{len(starts)}q", *starts))


def tokens_of(documents, code):
    return b"".join(struct.pack(f"<{len(d)}{TYPES[code]}", *d) for d in documents)


def same_files(tools, prefix, documents, code=8):
    for end, expected in ((".bin", tokens_of(documents, code)), (".idx", index_of(documents, code))):
        if tools.read(prefix + end) != expected:
            yield f"{prefix}{end}: expected {len(expected)} bytes, found others"


def check_goldens(tools):
    """Documents as Megatron's tools write them, by one thread and by four."""
    texts = [dict(text=g["text"], n=[1, {"text": 2}]) for g in tools.golden] * 3
    source = tools.write_lines("golden.jsonl", texts)
    expected = [g["ids"] for g in tools.golden] * 3
    with_eod = [ids + [554] if ids else [] for ids in expected]
    for workers in (1, 4):
        report = tools.report("tokenize", source, *tools.gpt2, "--append-eod", "--workers",
                              workers, "--output-prefix", tools.path("g"))
        yield from same_files(tools, "g_text_document", with_eod)
        rows = {"documents": len(texts), "empty": sum(not ids for ids in expected),
                "tokens": sum(map(len, with_eod)), "vocab_size": 555, "eod": 554, "dtype": "u16"}
        yield from (f"report: expected {key} {value}, found {report.get(key)}"
                    for key, value in rows.items() if report.get(key) != value)
    tools.call("tokenize", source, *tools.gpt2, "--dtype", "i32", "--output-prefix",
               tools.path("g"))
    yield from same_files(tools, "g_text_document", expected, code=4)


def check_kinds(tools):
    """Documents of each kind, by bytes; flat files."""
    a = tools.write("a.txt", "one\r\ntwo\n\n \n\xe9")
    b = tools.write("b.txt", b"\xff\n")
    kinds = {"lines": [b"one", b"two", b"", b" ", "\xe9".encode(), b"\xff"],
             "paragraphs": [b"one\r\ntwo", "\xe9".encode(), b"\xff"],
             "files": ["one\r\ntwo\n\n \n\xe9".encode(), b"\xff\n"]}
    for kind, documents in kinds.items():
        prefix = tools.path("k")
        bytes_of = ("tokenize", a, b, "--tokenizer", "bytes", "--documents", kind,
                    "--output-prefix", prefix)
        tools.call(*bytes_of, "--append-eod")
        yield from same_files(tools, "k_text_document",
                              [[*d, 256] if d else [] for d in documents])
        tools.call(*bytes_of, "--to", "raw", "--dtype", "i32")
        all_bytes = b"".join(documents)
        if tools.read("k_text.bin") != struct.pack(f"<{len(all_bytes)}i", *all_bytes):
            yield f"{kind}: raw tokens are others"
        tools.call(*bytes_of, "--to", "llmc")
        header = struct.pack("<256i", 20240520, 1, len(all_bytes), *[0] * 253)
        if tools.read("k_text.bin") != header + struct.pack(f"<{len(all_bytes)}H", *all_bytes):
            yield f"{kind}: the file of llm.c is another"


def check_keys(tools):
    source = tools.write_lines("keys.jsonl", [{"b": "x", "a": "yz", "c": 1}, {"a": "", "b": "w"}])
    report = tools.report("tokenize", source, "--json-keys", "a,b", "--tokenizer", "bytes",
                          "--output-prefix", tools.path("keys"))
    yield from same_files(tools, "keys_a_document", [list(b"yz"), []])
    yield from same_files(tools, "keys_b_document", [list(b"x"), list(b"w")])
    if [os.path.basename(f) for f in report["files"]] != [
            "keys_a_document.bin", "keys_a_document.idx", "keys_b_document.bin",
            "keys_b_document.idx"]:
        yield f"expected the files of both keys, found {report['files']}"


def check_bad_texts(tools):
    """Each wrong line is named with file and line, and nothing is written."""
    lines = [b'{"text": "good"}', b'{"text": 1}', b'{"title": "x"}', b"", b"text",
             b'{"text": "\\ud800"}', b'{"text": "\xff"}', b'{"text": "a", "text": "b"}',
             b'{"text": "cut', b"[" * 100_000, b'{"text": "\x00"}']
    source = tools.write("bad.jsonl", b"\n".join(lines))
    out = ("--tokenizer", "bytes", "--output-prefix", tools.path("bad"))
    wrong = [number for number, line in enumerate(lines, 1) if number > 1 and line]
    yield from tools.ends("bad lines", REJECTED, [f"{source}:{n}: " for n in wrong],
                          "tokenize", source, *out)
    text = tools.write("bad.txt", b"fine\n\nnot \xc3(\n")
    yield from tools.ends("no UTF-8", REJECTED, [f"{text}:3: expected UTF-8, found byte 0xC3 as "
                                                 "byte 5 of the document", "mtc data clean"],
                          "tokenize", text, "--documents", "paragraphs", *tools.gpt2,
                          "--output-prefix", tools.path("bad"))
    yield from tools.ends("no file", REJECTED, ["'lacks'", "'also-lacks'"], "tokenize", "lacks",
                          "also-lacks", *out)
    good = tools.write_lines("good.jsonl", [{"text": "a"}])
    for what, words, options in (
            ("no tokenizer", ["--vocab-file and --merge-file"], ()),
            ("files of bytes", ["expected no --vocab-file"], ("--tokenizer", "bytes", *tools.gpt2)),
            ("narrow type", ["--dtype: expected a type that holds 554"],
             (*tools.gpt2, "--dtype", "u8")),
            ("unknown type", ["found 'f32'"], (*tools.gpt2, "--dtype", "f32")),
            ("type of llm.c", ["expected tokens of u16"],
             (*tools.gpt2, "--dtype", "i32", "--to", "llmc")),
            ("a key with a slash", ["--json-keys"], (*tools.gpt2, "--json-keys", "../x")),
            ("no threads", ["--workers"], (*tools.gpt2, "--workers", "0")),
            ("a kind", ["--documents"], (*tools.gpt2, "--documents", "words"))):
        yield from tools.ends(what, USAGE, words, "tokenize", good, *options, "--output-prefix",
                              tools.path("bad"))
    yield from tools.ends("no folder", UNWRITTEN, ["no/such"], "tokenize", good, "--tokenizer",
                          "bytes", "--output-prefix", tools.path("no/such"))
    input_too = tools.write("same_text.bin", "x\n")
    yield from tools.ends("output is input", USAGE, ["same_text.bin"], "tokenize", input_too,
                          "--documents", "lines", "--tokenizer", "bytes", "--to", "raw",
                          "--output-prefix", tools.path("same"))


def check_bad_vocabularies(tools):
    with open(tools.gpt2[1], encoding="utf-8") as file:
        vocabulary = json.load(file)
    good = tools.write_lines("good.jsonl", [{"text": "a"}])

    def ends(what, words, vocab=tools.gpt2[1], merges=tools.gpt2[3]):
        return tools.ends(what, REJECTED, words, "tokenize", good, "--vocab-file", vocab,
                          "--merge-file", merges, "--output-prefix", tools.path("v"))

    yield from ends("not dense", ["expected ids 0 to 555, each once"],
                    tools.write("v.json", json.dumps(vocabulary | {"zz": 700})))
    yield from ends("too large an id", ['"zz": expected an id'],
                    tools.write("v.json", json.dumps(vocabulary | {"zz": 2**31})))
    yield from ends("empty token", ["an empty token"],
                    tools.write("v.json", json.dumps(vocabulary | {"": 555})))
    yield from ends("merges as vocabulary", ["expected '{'"], tools.gpt2[3])
    for what, merge, says in (("three fields", "t h e", "expected two symbols"),
                              ("unknown symbol", "qq zz", "'qq' is no token"),
                              ("a cycle", "the \u0120the", "is made by no earlier line")):
        yield from ends(what, ["line 1: ", says], merges=tools.write("m.txt", merge + "\n"))
    without = {t: i for t, i in vocabulary.items() if i < 554}
    yield from tools.ends("no end of document", USAGE, ["--append-eod"], "tokenize", good,
                          "--append-eod", "--vocab-file",
                          tools.write("v.json", json.dumps(without)), "--merge-file",
                          tools.gpt2[3], "--output-prefix", tools.path("v"))


def corpus(tools, name, texts):
    """A corpus of bytes, one document a text; the name of its files."""
    source = tools.write_lines(name + ".jsonl", [{"text": text} for text in texts])
    tools.call("tokenize", source, "--tokenizer", "bytes", "--append-eod", "--output-prefix",
               tools.path(name))
    return tools.path(name + "_text_document")


def check_info_and_merge(tools):
    texts = ["abc", "", "x" * 9, "yz", "q"]
    a, b = corpus(tools, "a", texts), corpus(tools, "b", ["last"])
    lengths = sorted(len(text) + 1 for text in texts if text)
    rows = {"documents": 5, "sequences": 4, "tokens": sum(lengths), "dtype": "u16",
            "bytes": 2 * sum(lengths), "length_least": 2, "length_median": lengths[1],
            "length_mean": sum(lengths) / 4, "length_p90": lengths[2], "length_most": 10,
            "length_zero": 0}
    for name in (a, a + ".idx", a + ".bin"):
        report = tools.report("info", name)
        yield from (f"info: expected {key} {value}, found {report.get(key)}"
                    for key, value in rows.items() if report.get(key) != value)
    report = tools.report("merge", a, b, a, "--output-prefix", tools.path("all"))
    documents = [[*t.encode(), 256] if t else [] for t in [*texts, "last", *texts]]
    yield from same_files(tools, "all", documents)
    if (report["documents"], report["tokens"]) != (11, sum(map(len, documents))):
        yield f"merge: expected 11 documents, found {report}"
    wide = tools.write_lines("wide.jsonl", [{"text": "w"}])
    tools.call("tokenize", wide, "--tokenizer", "bytes", "--dtype", "i32", "--output-prefix",
               tools.path("wide"))
    yield from tools.ends("merge of two types", REJECTED, ["u16", "i32"], "merge", a,
                          tools.path("wide_text_document"), "--output-prefix", tools.path("m"))
    yield from tools.ends("merge into an input", USAGE, ["a_text_document"], "merge", a, b,
                          "--output-prefix", a)
    yield from tools.ends("merge of none", REJECTED, ["lacks"], "merge", tools.path("lacks"),
                          "--output-prefix", tools.path("m"))


def check_check(tools):
    a = corpus(tools, "a", ["abc", "xyz"])
    if tools.report("check", a, "--vocab-size", "257")["tokens"] != 8:
        yield "check: expected 8 tokens"
    yield from tools.ends("a small vocabulary", REJECTED, ["from 0 to 255", "2 others",
                                                           "position 3: 256"],
                          "check", a, "--vocab-size", "256")
    yield from tools.ends("no vocabulary", USAGE, ["--vocab-size"], "check", a)
    index = tools.read("a_text_document.idx")
    boundary = 34 + 2 * 4 + 2 * 8 + 8  # between the documents: another one is no less whole
    for at in set(range(len(index))) - {boundary}:  # a bit of each byte
        damaged = bytearray(index)
        damaged[at] ^= 1
        tools.write("a_text_document.idx", bytes(damaged))
        ended = tools.call("check", a, "--vocab-size", "257", check=False)
        if ended.returncode != REJECTED:
            yield f"byte {at} of the .idx: expected code 3, found {ended.returncode}"
    for size in (*range(34), len(index) - 1, len(index) + 1):
        tools.write("a_text_document.idx", (index + b"\0")[:size])
        ended = tools.call("check", a, "--vocab-size", "257", check=False)
        if ended.returncode != REJECTED:
            yield f".idx of {size} bytes: expected code 3, found {ended.returncode}"


def check_flat_files(tools):
    """Raw and llm.c's: what they have, and a token that is not in the vocabulary."""
    for kind, dtype, code in (("raw", "u16", "H"), ("raw", "u32", "I"), ("llmc", "u16", "H")):
        source = tools.write("a.txt", "abc")
        tools.call("tokenize", source, "--documents", "files", "--tokenizer", "bytes",
                   "--append-eod", "--output-prefix", tools.path("flat"), "--to", kind,
                   "--dtype", dtype)
        name = tools.path("flat_text.bin")
        raw = ("--data-type", dtype) if kind == "raw" else ()
        rows = {"tokens": 4, "dtype": dtype, "bytes": 4 * struct.calcsize(code),
                "header": "none" if raw else "llm.c"}
        for action, more in (("info", ()), ("check", ("--vocab-size", "257"))):
            report = tools.report(action, name, *raw, *more)
            yield from (f"{action} of {kind} {dtype}: expected {key} {value}, found "
                        f"{report.get(key)}" for key, value in rows.items()
                        if report.get(key) != value)
        yield from tools.ends(f"a token of {kind}", REJECTED, ["from 0 to 255", "1 others",
                                                               "position 3: 256"],
                              "check", name, *raw, "--vocab-size", "256")
        if raw:
            yield from tools.ends("a raw file without a type", USAGE, ["--data-type", "llm.c"],
                                  "check", name, "--vocab-size", "257")
        tools.write("flat_text.bin", tools.read("flat_text.bin")[:-1])
        yield from tools.ends(f"a cut file of {kind}", REJECTED, ["flat_text.bin", "bytes"],
                              "check", name, *raw, "--vocab-size", "257")


CHECKS = (check_goldens, check_kinds, check_keys, check_bad_texts, check_bad_vocabularies,
          check_info_and_merge, check_check, check_flat_files)


if __name__ == "__main__":
    run_checks("tools of data", CHECKS)
