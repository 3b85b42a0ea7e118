#!/usr/bin/env python3
"""mtc data clean, filter and dedup, against rules and planted duplicates written here.

usage: test_text_tools.py BIN_DIR GOLDEN_DIR LIBRARY

LIBRARY, grow_file.cpp, lets a file grow when it is opened.
"""

import contextlib
import itertools
import json
import os
import random
import re
import resource
import sys

from data_tools import REJECTED, USAGE, run_checks


@contextlib.contextmanager
def changed_environment(variables):
    before = dict(os.environ)
    os.environ.update(variables)
    yield
    os.environ.clear()
    os.environ.update(before)


@contextlib.contextmanager
def limited_memory(count):
    """Of this process, and those that it starts."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (count, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def lines_of(tools, name):
    return tools.read(name).splitlines()


def texts_of(tools, name):
    return [json.loads(line)["text"] for line in lines_of(tools, name)]


def expect_rows(what, report, **rows):
    yield from (f"{what}: expected {key} {value}, found {report.get(key)}"
                for key, value in rows.items() if report.get(key) != value)


def by_workers(tools, name, action, *arguments):
    """The report of one thread; the output of three must be the same."""
    reports = []
    outputs = []
    for workers in (1, 3):
        reports.append(tools.report(action, *arguments, "--workers", workers,
                                    "-o", tools.path(name)))
        outputs.append(tools.read(name))
    same = reports[0] == reports[1] and outputs[0] == outputs[1]
    return reports[0], [] if same else [f"{action}: three threads give another result"]


def check_clean_goldens(tools):
    """As ftfy does it (test/golden/clean)."""
    golden = os.path.join(os.path.dirname(tools.golden_folder), "clean", "golden.jsonl")
    with open(golden, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    source = tools.write_lines("dirty.jsonl", [{"n": 1, "text": c["text"]} for c in cases])
    report, problems = by_workers(tools, "clean.jsonl", "clean", source)
    yield from problems
    expected = [c["clean"] for c in cases if c["clean"]]
    found = texts_of(tools, "clean.jsonl")
    yield from (f"clean: expected {e!r}, found {f!r}" for e, f in zip(expected, found) if e != f)
    yield from expect_rows("clean", report, documents=len(cases), written=len(expected),
                           empty=len(cases) - len(expected), unreadable=0,
                           changed=sum(c["text"] != c["clean"] != "" for c in cases))


def check_clean_lines(tools):
    """Lines keep all but their text; what cannot be read is counted and named."""
    lines = [b'{"n": 1.50, "text": "fine \\u00e9", "m": {"text": 1e400}}',
             b'{"x": "\xc3\xa9\xff", "text":"a\x80b\xe4\xb8\\ud800c"}', b'{"text": 1}', b"", b"oops",
             b'{"text": " \\n\\u0000"}', b'{"text": "\\ud83d\\ude00 "}']
    source = tools.write("lines.jsonl", b"\n".join(lines))
    report = tools.report("clean", source, "-o", tools.path("out.jsonl"))
    found = lines_of(tools, "out.jsonl")
    expected = [lines[0], '{"x": "é\ufffd", "text":"a\ufffdb\ufffd\ufffdc"}'.encode(),
                '{"text": "😀"}'.encode()]
    if found != expected:
        yield f"clean: expected {expected}, found {found}"
    yield from expect_rows("clean", report, documents=4, changed=2, empty=1, unreadable=2,
                           invalid_bytes=3, control_characters=1, written=3)
    if f"{source}:3: \"text\": expected a string" not in report["first_unreadable"]:
        yield f"clean: the first unreadable line is not named: {report['first_unreadable']}"
    dirty = bytes(range(256)) * 3 + "é".encode()[:1]
    text = tools.write("dirty.txt", dirty)
    tools.call("clean", text, "--documents", "files", "-o", tools.path("out.jsonl"))
    kept = re.sub("[\x00-\x08\x0b\x0e-\x1f\x7f]", "",
                  dirty.decode(errors="replace").replace("\r", "\n"))
    if texts_of(tools, "out.jsonl") != [re.sub(r"[ \t]+\n", "\n", kept).strip(" \t\n\f")]:
        yield "clean: bytes that are no UTF-8 are replaced in another way"
    yield from tools.ends("clean into its input", USAGE, ["--output"], "clean", source, "-o", source)


def check_filter(tools):
    """Tokens by the golden vocabulary; runs of words by a regular expression."""
    cases = [g for g in tools.golden if g["text"]]
    source = tools.write_lines("texts.jsonl", cases)
    limit = sorted(len(c["ids"]) for c in cases)[len(cases) // 2]
    report, problems = by_workers(tools, "long.jsonl", "filter", source, *tools.gpt2,
                                  "--min-tokens", limit)
    yield from problems
    kept = [c for c in cases if len(c["ids"]) >= limit]
    if [json.loads(line) for line in lines_of(tools, "long.jsonl")] != kept:
        yield "filter: expected the long ones, found others"
    yield from expect_rows("filter", report, documents=len(cases), kept=len(kept),
                           short=len(cases) - len(kept))
    report = tools.report("filter", source, *tools.gpt2)
    yield from expect_rows("the paper's length", report,
                           kept=sum(len(c["ids"]) >= 128 for c in cases))


def runs(text, n):
    words = [re.sub("[A-Z]", lambda m: m[0].lower(), w) for w in re.findall(r"\w+", text)]
    return {tuple(words[i:i + n]) for i in range(len(words) - n + 1)}


def check_overlap(tools):
    rng = random.Random(2)
    words = ["The", "the", "of", "Ärger", "ärger", "x_1", "42", "世界", "and", "Dog"]

    def text(count):
        return "".join(rng.choice(words) + rng.choice((" ", ", ", "-", "\n")) for _ in range(count))

    tasks = [text(rng.randrange(1, 12)) for _ in range(30)]
    texts = [text(rng.randrange(1, 40)) for _ in range(300)]
    texts[17] += tasks[3]
    task_file = tools.write_lines("tasks.jsonl", [{"text": t} for t in tasks])
    source = tools.write_lines("texts.jsonl", [{"text": t} for t in texts])
    for n in (1, 4, 6):
        report, problems = by_workers(tools, "out.jsonl", "filter", source, "--min-tokens", "0",
                                      "--ngrams-of", task_file, "--ngram", n)
        yield from problems
        of_tasks = set().union(*(runs(t, n) for t in tasks))
        kept = [t for t in texts if not runs(t, n) & of_tasks]
        if texts_of(tools, "out.jsonl") != kept:
            yield f"{n}-grams: expected {len(kept)} documents, found {report['kept']} or others"
        of_texts = set().union(*(runs(t, n) for t in texts))
        yield from expect_rows(f"{n}-grams", report, task_ngrams=len(of_tasks), kept=len(kept),
                               task_ngrams_found=len(of_tasks & of_texts),
                               overlapping=len(texts) - len(kept),
                               task_texts_too_short=sum(not runs(t, n) for t in tasks))
    yield from tools.ends("no rule", USAGE, ["expected a rule"], "filter", source,
                          "--min-tokens", "0")
    bad = tools.write("bad.jsonl", '{"text": "a"}\n{}\n')
    for arguments in ((source, "--ngrams-of", bad), (bad, "--ngrams-of", task_file)):
        yield from tools.ends("a bad line", REJECTED, [f"{bad}:2: "], "filter", *arguments,
                              "--min-tokens", "0", "-o", tools.path("new.jsonl"))


def shingles(text, width):
    return {text[i:i + width] for i in range(max(len(text) - width, 0) + 1)} if text else set()


def groups_by_index(texts, width, threshold):
    """The first of each group, and the number of duplicates, by all pairs."""
    above = list(range(len(texts)))

    def first(i):
        while above[i] != i:
            i = above[i]
        return i

    sets = [shingles(t, width) for t in texts]
    for i, j in itertools.combinations(range(len(texts)), 2):
        either = len(sets[i] | sets[j])
        if (len(sets[i] & sets[j]) / either if either else 1) >= threshold:
            a, b = sorted((first(i), first(j)))
            above[b] = a
    return [i for i in range(len(texts)) if first(i) == i]


def planted(rng):
    """Texts, some of them edits of edits of earlier ones, and equal and empty ones."""
    words = ["".join(rng.choice("abcdefghijklmnopé世") for _ in range(rng.randrange(2, 9)))
             for _ in range(300)]
    texts = ["", "abc", "abc", ""]
    for _ in range(150):
        if len(texts) > 10 and rng.random() < 0.6:
            edited = rng.choice(texts[4:]).split(" ")
            for _ in range(rng.randrange(0, 9)):
                edited[rng.randrange(len(edited))] = rng.choice(words)
            texts.append(" ".join(edited))
        else:
            texts.append(" ".join(rng.choice(words) for _ in range(rng.randrange(20, 80))))
    return texts + texts[5:9] * 30


def check_dedup(tools):
    """Planted near-duplicates, against the true index of all pairs."""
    for seed, width, threshold in ((1, 5, 0.7), (2, 3, 0.8)):
        texts = planted(random.Random(seed))
        half = len(texts) // 2
        files = [tools.write_lines(f"{i}.jsonl", [{"id": n, "text": t} for n, t in part])
                 for i, part in enumerate((list(enumerate(texts))[:half],
                                           list(enumerate(texts))[half:]))]
        report, problems = by_workers(
            tools, "out.jsonl", "dedup", *files, "--shingle", width, "--threshold", threshold,
            "--seed", seed, "--pairs", tools.path("pairs.jsonl"))
        yield from problems
        expected = groups_by_index(texts, width, threshold)
        if not len(texts) * 0.2 < len(expected) < len(texts) * 0.8:
            yield f"dedup: {len(expected)} of {len(texts)} stay, which shows little"
        found = [json.loads(line)["id"] for line in lines_of(tools, "out.jsonl")]
        if found != expected:
            yield f"dedup: expected {len(expected)} documents, found {len(found)} or others"
        dropped = len(texts) - len(expected)
        yield from expect_rows("dedup", report, documents=len(texts), duplicates=dropped,
                               kept=len(expected))
        pairs = [json.loads(line) for line in lines_of(tools, "pairs.jsonl")]
        if len(pairs) != dropped or any(p["jaccard"] < threshold for p in pairs):
            yield f"dedup: expected {dropped} pairs, found {len(pairs)} or too low an index"
    # Equal documents are compared once each, not all with all.
    many = tools.write_lines("many.jsonl", [{"text": "the same"}] * 3000)
    yield from expect_rows("equal documents", tools.report("dedup", many), kept=1, compared=2999)
    blank = tools.write("blank.txt", "a\n\nb\n\n")
    yield from expect_rows("empty lines", tools.report("dedup", blank, "--documents", "lines"),
                           documents=4, kept=3)
    yield from tools.ends("one file twice", USAGE, ["two files"], "dedup", many, "--output",
                          tools.path("twice.jsonl"), "--pairs", tools.path("./twice.jsonl"))
    for option, value in (("--threshold", "0"), ("--threshold", "1.5"), ("--shingle", "0"),
                          ("--shingle", "1001")):
        yield from tools.ends(f"{option} {value}", USAGE, [option], "dedup", many, option, value)


def check_growing(tools):
    """A file that grows between two of dedup's passes, by a line or within its last one, is
    an error: the passes would see other documents. At the first opening it has just grown."""
    texts = [{"text": f"the {word} document of some"} for word in ("first", "second", "first")]
    grown = json.dumps({"text": "another"}) + "\n"
    opened = 0
    for more, name in ((grown, "by a line"), ("x", "within its last line")):
        for opening in range(1, 10):
            source = tools.write("grows.txt", "".join(json.dumps(t) + "\n" for t in texts)[:-1])
            environment = {"LD_PRELOAD": os.path.abspath(sys.argv[3]), "MTC_GROW": source,
                           "MTC_GROW_AT": str(opening), "MTC_GROW_BY": more}
            with changed_environment(environment):
                ended = tools.call("dedup", source, "--documents", "lines", "--workers", 1, "-o",
                                   tools.path("unique.jsonl"), "--threshold", 1, check=False)
            has_grown = tools.read("grows.txt").endswith(more.encode())
            expected = REJECTED if has_grown and opening > 1 else 0
            if ended.returncode != expected:
                yield (f"a file grows {name} at its opening {opening}: expected {expected}, found "
                       f"{ended.returncode}: {ended.stderr}")
            if expected and "does not change while it is read" not in ended.stderr:
                yield f"a file grows {name}: {ended.stderr}"
            if os.path.exists(tools.path("unique.jsonl")):
                if expected:
                    yield f"a file grows {name} at its opening {opening}: an output is there"
                os.remove(tools.path("unique.jsonl"))
            opened = max(opened, opening if has_grown else 0)
    if opened < 3:
        yield f"expected at least three openings of a file, found {opened}"


def check_memory(tools):
    """A document for which there is no memory: one line says so, and nothing is left."""
    source = tools.path("endless")
    with open(source, "wb") as file:
        file.truncate(1 << 30)
    with limited_memory(768 << 20):
        for action in ("clean", "dedup"):
            yield from tools.ends(f"{action} without memory", 1, ["out of memory", "--workers 1"],
                                  action, source, "--documents", "lines", "--workers", 1, "-o",
                                  tools.path("out.jsonl"))


CHECKS = (check_growing, check_memory, check_clean_goldens, check_clean_lines, check_filter, check_overlap, check_dedup)


if __name__ == "__main__":
    run_checks("tools of texts", CHECKS)
