"""The drawings of the README that mtc does not make: the levels, a loss curve."""

import math

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
