#!/usr/bin/env python3
"""mtc schedule: drawings in text against goldens, pictures against the times in JSON, and
schedules of files, among them those that come with mtc.

usage: test_schedules.py BIN_DIR SOURCES
"""

import json
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as xml

from run_layout import Mtc, Report

SIZES = ("--pp", 3, "--microbatches", 4)
GOLDENS = {"1f1b": ("1f1b", *SIZES),
           "interleaved-1f1b": ("interleaved-1f1b", "--pp", 3, "--microbatches", 6),
           "zb-h1": ("zb-h1", *SIZES, "--costs", "F=2,I=2,W=1", "--latency", 1)}
PICTURES = [*GOLDENS.values(), ("gpipe", *SIZES, "--costs", "F=300,B=700"),
            ("eager-1f1b", *SIZES), ("forward-only", *SIZES, "--chunks", 2),
            ("1f1b", "--pp", 12, "--microbatches", 120)]
SVG = "{http://www.w3.org/2000/svg}"
PART_NAMES = (("warm-up", "warm_up"), ("steady", "steady_state"), ("cool-down", "cool_down"))


def show(mtc, *arguments):
    return json.loads(mtc.call("schedule", "show", *arguments, "--json").stdout)


def check_goldens(mtc, sources):
    for name, arguments in GOLDENS.items():
        path = os.path.join(sources, "test/golden/schedules/shown", name + ".txt")
        with open(path) as file:
            wanted = file.read()
        found = mtc.call("schedule", "show", *arguments).stdout
        if found != wanted:
            yield f"{name}: expected\n{wanted}found\n{found}"


def slots_of(shown):
    """(stage, slot, begin, end) of a schedule in JSON."""
    for line in shown["timelines"]:
        for slot, begin in zip(line["slots"].split(), line["starts"], strict=True):
            yield line["stage"], slot, begin, begin + shown["costs"][slot[0]]


def boxes_of(root):
    """(stage, slot, begin, end) to the rectangle and the number in it."""
    said = re.compile(r"(\S+) of stage (\d+): (\d+) to (\d+)")
    for group in root.iter(SVG + "g"):
        slot, *numbers = said.fullmatch(group.find(SVG + "title").text).groups()
        stage, begin, end = map(int, numbers)
        text = group.find(SVG + "text")
        yield (stage, slot, begin, end), group.find(SVG + "rect"), \
            None if text is None else text.text


def place(rectangle):
    return [float(rectangle.get(name)) for name in ("x", "y", "width", "height")]


def check_boxes(shown, boxes, scale, left):
    if sorted(name for name, _, _ in boxes) != sorted(slots_of(shown)):
        yield "the boxes are not the slots of the JSON"
    lanes = {}
    for (stage, slot, begin, end), rectangle, number in boxes:
        x, y, width, _ = place(rectangle)
        # Numbers in the file have one place behind the point; a pixel is left out between.
        if abs(x - left - scale * begin) > 0.11 or abs(width + 1 - scale * (end - begin)) > 0.11:
            yield f"{slot} of stage {stage}: lies at {x}, {width} wide"
        if lanes.setdefault(stage, y) != y:
            yield f"{slot} of stage {stage}: lies in another lane"
        if number != re.match(r"\w(\d+)", slot)[1]:
            yield f"{slot} of stage {stage}: says {number}"
        if rectangle.get("class") != f"slot {slot[0]}":
            yield f"{slot} of stage {stage}: has the class {rectangle.get('class')}"
    if len(set(lanes.values())) != shown["stages"]:
        yield f"expected a lane for each stage, found {lanes}"
    shades = {(slot[0], slot.partition(".")[2]): rectangle.get("fill")
              for (_, slot, _, _), rectangle, _ in boxes}
    if len(set(shades.values())) != len(shades):
        yield f"expected a colour for each phase and chunk, found {shades}"


def check_parts(shown, root, scale, left):
    """The strips under the lanes begin where the parts of the JSON do."""
    for kind, key in PART_NAMES:
        wanted = [line[key]["begin"] for line in shown["timelines"] if line[key]["slots"]]
        found = [place(rectangle)[0] for rectangle in root.iter(SVG + "rect")
                 if rectangle.get("class") == kind][:-1]  # the last is the legend's
        if len(wanted) != len(found) or any(abs(left + scale * begin - x) > 0.11
                                            for begin, x in zip(wanted, found)):
            yield f"{kind}: expected strips from {wanted}, found {found}"


def check_picture(mtc, folder, *arguments):
    path = os.path.join(folder, "picture.svg")
    shown = show(mtc, *arguments, "--svg", path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    root = xml.fromstring(text)
    boxes = list(boxes_of(root))
    lane = next(rectangle for rectangle in root.iter(SVG + "rect")
                if rectangle.get("class") == "lane")
    left, scale = place(lane)[0], place(lane)[2] / shown["makespan"]
    yield from check_boxes(shown, boxes, scale, left)
    yield from check_parts(shown, root, scale, left)
    for words in ("href", "<script", "url(", "@import"):
        if words in text:
            yield f"expected a picture of its own, found {words}"
    if "prefers-color-scheme: dark" not in text:
        yield "expected colours for dark pages"


def check_list(mtc):
    names = [line.split()[0] for line in
             mtc.call("schedule", "list").stdout.splitlines()]
    if names != [line.split()[0] for line in mtc.call("help", "schedules").stdout.splitlines()]:
        yield f"expected the names of help schedules, found {names}"
    for name in names:
        shown = show(mtc, name)
        if (shown["schedule"], shown["stages"], shown["microbatches"]) != (name, 4, 8):
            yield f"{name}: found {shown}"


def check_examples(mtc, sources):
    folder = os.path.join(sources, "models/schedules")
    for name in sorted(os.listdir(folder)):
        shown = show(mtc, os.path.join(folder, name))
        if shown["notes"]:
            yield f"{name}: expected no notes, found {shown['notes']}"
    # The older rule: for as many microbatches as stages all forwards are warm-up.
    shown = show(mtc, os.path.join(folder, "interleaved-all-warm-up.txt"))
    sizes = [shown[key] for key in ("stages", "microbatches", "chunks", "bubble")]
    if sizes != [4, 4, 2, show(mtc, "interleaved-1f1b", "--microbatches", 4)["bubble"]]:
        yield f"all warm-up: found {sizes}"
    if [line["warm_up"]["slots"] for line in shown["timelines"]] != [8, 8, 8, 8]:
        yield f"all warm-up: found {shown['timelines']}"


def check_files(mtc, folder):
    """A named schedule, written as a file, is the same; in another order it says so."""
    path = os.path.join(folder, "mine.txt")
    named = show(mtc, "zb-h1", *SIZES, "--latency", 1)
    with open(path, "w") as file:
        file.write("# mine\n" + "".join(line["slots"] + "\n" for line in named["timelines"]))
    found = show(mtc, path, *SIZES, "--latency", 1)
    for key in ("stages", "microbatches", "chunks", "makespan", "bubble", "notes"):
        if found[key] != named[key]:
            yield f"file: expected {key} {named[key]}, found {found[key]}"
    if (found["schedule"], found["bubble_closed_form"]) != (None, None):
        yield f"file: expected no name and no closed form, found {found}"
    with open(path, "w") as file:
        file.write("F0 F1 B1 B0\n" * 2)
    text = mtc.call("schedule", "show", path).stdout
    if text.count("note: ") != 2 or "added in order [1, 0]" not in text:
        yield f"file: expected notes on the order of sums, found {text}"
    with open(path, "w") as file:
        file.write("F0 B0 F1 I1 W1\n")
    text = mtc.call("schedule", "show", path).stdout
    if "note: mtc compile does not take it: stage 0 chunk 0" not in text:
        yield f"file: expected a note on halves of backwards, found {text}"


def main():
    mtc, sources, report = Mtc(), sys.argv[2], Report()
    with tempfile.TemporaryDirectory() as folder:
        report.expect_none(check_goldens(mtc, sources))
        for arguments in PICTURES:
            report.expect_none(f"{' '.join(map(str, arguments))}: {wrong}"
                               for wrong in check_picture(mtc, folder, *arguments))
        report.expect_none(check_list(mtc))
        report.expect_none(check_examples(mtc, sources))
        report.expect_none(check_files(mtc, folder))
    return report.finish(f"{len(GOLDENS)} drawings, {len(PICTURES)} pictures")


if __name__ == "__main__":
    sys.exit(main())
