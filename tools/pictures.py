"""The drawings of the README: the levels, a schedule as the compiler has it, a loss curve."""

import math
import re

from svg import BLUE, GREEN, INK, ORANGE, PALE, VIOLET, Picture

# name, colour, what it knows, a line of it about one weight (docs/one-weight.md), and what
# is decided on the way to the next.
LEVELS = [
    ("tfm", BLUE, "what is computed: tensors of the whole model",
     'tfm.einsum "bse,ef->bsf" %x, %w : 4x32x64, 64x256 -> 4x32x256',
     "gradients; which dimension is split over which axis; collectives"),
    ("dist", GREEN, "where values lie: split, replicated or partial",
     'dist.all_reduce sum %dx over "tp" origin f',
     "stages; the order of microbatches; sends and receives"),
    ("pipe", ORANGE, "who runs what, and when",
     'pipe.schedule @train stages 2 ["F0 F1 B0 B1", "F0 B0 F1 B1"]',
     "buckets; kernels; the offset of every value; then all of it is verified"),
    ("rt", VIOLET, "bytes and calls: nothing is left to decide",
     "rt.gemm %x, %w into %y m 64 n 128 k 64",
     "LLVM IR, machine code, linked"),
]


def levels():
    width, step, top, left = 820, 104, 74, 30
    picture = Picture(width, top + step * len(LEVELS) + 62,
                      "From a spec and a strategy through four levels of IR to programs")
    middle, arrow = width // 2, left + 38
    for x, words in ((left, "spec: what the model is"), (middle + 10, "strategy: how to spread it")):
        picture.box(x, 16, middle - left - 10, 34, "#eef1f4")
        picture.text(x + 14, 38, words, 14, weight="bold")
    picture.arrow_down(arrow, 52, 20)
    for at, (name, colour, knows, example, decided) in enumerate(LEVELS):
        y = top + step * at
        picture.box(left, y, width - 2 * left, 66, "#f7f8fa", colour, 6)
        picture.box(left, y, 76, 66, colour, rx=6)
        picture.text(left + 38, y + 39, name, 18, "#ffffff", "middle", "bold")
        picture.text(left + 92, y + 27, knows, 14, INK, weight="bold")
        picture.text(left + 92, y + 50, example, 13, PALE, mono=True)
        picture.arrow_down(arrow, y + 68, 34)
        picture.text(left + 92, y + 90, decided, 12, PALE)
    y = top + step * len(LEVELS)
    picture.box(left, y, width - 2 * left, 44, "#eef1f4")
    picture.text(middle, y + 27, "a bundle: one native program for each stage, "
                 "run by mtc run with a recipe and data", 14, INK, "middle", "bold")
    return picture.svg()


def slots_of(ir, name):
    """The slots of each stage: [[("F", 0), ...], ...]."""
    texts = re.search(rf"pipe\.schedule @{name} .*?\[(.*?)\]", ir)[1]
    return [[(slot[0], int(slot[1:])) for slot in stage.split()]
            for stage in re.findall(r'"([^"]*)"', texts)]


def starts_of(stages, costs):
    """When each slot starts, as soon as what it needs is there: (stage, slot) to a time."""
    last, starts, ends = len(stages) - 1, {}, {}
    todo = [list(slots) for slots in stages]
    free = [0] * len(stages)
    while any(todo):
        stage = next(s for s, slots in enumerate(todo)
                     if slots and needed(s, slots[0], last) <= ends.keys())
        slot = todo[stage].pop(0)
        start = max([free[stage], *(ends[need] for need in needed(stage, slot, last))])
        starts[stage, slot] = start
        free[stage] = ends[stage, slot] = start + costs[slot[0]]
    return starts


def needed(stage, slot, last):
    kind, microbatch = slot
    if kind == "F":
        return {(stage - 1, slot)} if stage > 0 else set()
    return {(stage + 1, slot)} if stage < last else {(stage, ("F", microbatch))}


def schedule(ir, command):
    """Forwards take one unit of time and backwards two."""
    costs, colours = {"F": 1, "B": 2}, {"F": BLUE, "B": ORANGE}
    stages = slots_of(ir, "train")
    starts = starts_of(stages, costs)
    end = max(start + costs[slot[0]] for (_, slot), start in starts.items())
    unit, height, left, top = 21, 30, 78, 44
    picture = Picture(left + unit * end + 20, top + height * len(stages) + 34,
                      "A pipeline schedule: slots of each stage over time")
    picture.text(16, 26, command, 13, PALE, mono=True)
    for stage in range(len(stages)):
        y = top + height * stage
        picture.text(16, y + 19, f"stage {stage}", 13)
        picture.box(left, y, unit * end, height - 4, "#eef1f4", rx=2)
    for (stage, (kind, microbatch)), start in starts.items():
        x, y = left + unit * start, top + height * stage
        picture.box(x, y, unit * costs[kind] - 1, height - 4, colours[kind], rx=2)
        picture.text(x + unit * costs[kind] / 2, y + 18, f"{kind}{microbatch}", 11, "#ffffff",
                     "middle")
    idle = 1 - sum(costs[kind] for _, (kind, _) in starts) / (end * len(stages))
    picture.text(left, top + height * len(stages) + 18,
                 "F: forward, B: backward (twice as long), of microbatches 0, 1, ...; "
                 f"grey: the bubble, {100 * idle:.0f} %", 12, PALE)
    return picture.svg()


def loss(curves, title):
    """`curves`: (name, [(step, value), ...]). The first is a line, the others are points."""
    width, height, left, right, top, bottom = 760, 300, 52, 16, 40, 40
    picture = Picture(width, height, title)
    steps = max(step for _, points in curves for step, _ in points)
    most = math.ceil(max(value for _, points in curves for _, value in points))

    def at(step, value):
        return (left + (width - left - right) * step / steps,
                height - bottom - (height - top - bottom) * value / most)

    picture.text(left, 24, title, 14, weight="bold")
    for value in range(0, most + 1, 2):
        picture.line([at(0, value), at(steps, value)])
        picture.text(left - 10, at(0, value)[1] + 4, str(value), 12, PALE, "end")
    for step in range(0, steps + 1, 50):
        picture.text(at(step, 0)[0], height - bottom + 18, str(step), 12, PALE, "middle")
    picture.text(width - right, height - 6, "step", 12, PALE, "end")
    for index, ((name, points), colour) in enumerate(zip(curves, (BLUE, ORANGE))):
        places = [at(*point) for point in points]
        if index == 0:
            picture.line(places, colour, 2)
        for x, y in places if index else []:
            picture.add("circle", cx=x, cy=y, r=2.5, fill=colour)
        picture.box(width - 250, top + 22 * (index + 1), 14, 4, colour, rx=2)
        picture.text(width - 228, top + 22 * (index + 1) + 7, name, 12)
    return picture.svg()
