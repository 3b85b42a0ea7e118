"""Memory where some of the microbatches in flight are computed again, in bytes.

Under `recompute = microbatches=N` a stage that has W microbatches in flight has min(N, W)
slots of the size that it has under `full`, and W less these of that under `none`; all
else in its arena of activations is as it was. A microbatch has a small slot only while
all large ones are taken.

usage: test_recompute_slots.py BIN_DIR
"""

import re
import sys

from layouts import Layout
from run_layout import Mtc, Report

SPEC, BATCH, PAGE = "gpt2-nano", 16, 4096
KEPT = ("saved", "split", "operand")  # pools whose slots come in two sizes
LAYOUTS = [Layout(1, 2), Layout(1, 4), Layout(2, 2, sp=True), Layout(1, 2, schedule="gpipe"),
           Layout(), Layout(1, 2, schedule="interleaved-1f1b", chunks=2),
           Layout(1, 3, schedule="zb-h1", layers=(1, 2, 1)), Layout(2, 2, 2, 1)]


class Stage:
    """What a program's IR says of its arena of activations."""

    def __init__(self, text):
        self.strides = {pool: int(stride) for pool, stride in
                        re.findall(r"slot of (\S+) stride (\d+)", text)}
        self.arena = int(re.search(r"arenas = array<i64: \d+, \d+, \d+, (\d+)", text)[1])
        self.slots = {}
        for row in re.findall(r" slots <(.*?)>", text):
            for pool, slot in re.findall(r"(\S+) = (\d+)", row):
                self.slots[pool] = max(self.slots.get(pool, 0), int(slot) + 1)
        train = text[text.index("rt.timeline @train"):]
        train = train[:train.index("rt.timeline", 1)]
        self.rows = re.findall(r"run @\S*?_(fwd|bwd)(\S*) microbatch (\d+) slots <(.*?)>", train)

    def bytes(self, pools):
        """Of slots of some pools."""
        return sum(self.slots.get(pool, 0) * self.strides.get(pool, 0) for pool in pools)


def stages(mtc, layout, policy):
    """The programs of a plan, in the order of the stages."""
    ir = mtc.call("compile", SPEC, *layout.options(BATCH), "--recompute", policy,
                  "--compile-to=plan-memory").stdout
    return [Stage(text) for text in ir.split("rt.program @")[1:]]


def page(count):
    return (count + PAGE - 1) // PAGE * PAGE


def problems(whole, small, mixed, count):
    """Of one stage: under none, under full, and with `count` microbatches."""
    longest = "operand" if "operand" in whole.slots else "saved"
    flight = whole.slots[longest]
    few = min(count, flight)
    found = (mixed.slots.get(longest, 0), mixed.slots.get(longest + "_again", 0))
    # A stage without large slots may name the pool in the entry eval.
    large = max(flight - few, 1 if longest == "saved" and few == flight else 0)
    if found not in {(flight - few, few), (large, few)}:
        yield f"expected {flight - few} large slots and {few} small ones, found {found}"
    for pool in KEPT:
        for name, like in ((pool, whole), (pool + "_again", small)):
            stride = mixed.strides.get(name)
            if stride is not None and stride != like.strides.get(pool):
                yield f"expected slots of {name} of {like.strides.get(pool)} bytes, found {stride}"
    rest = [pool for pool in whole.slots if pool not in KEPT]
    expected = page(whole.bytes(rest) + mixed.bytes(
        [name for pool in KEPT for name in (pool, pool + "_again")]))
    if mixed.arena != expected:
        yield f"expected {expected} bytes of activations, found {mixed.arena}"
    if longest == "saved":
        form = page(whole.bytes(rest) + (flight - few) * whole.strides.get("saved", 0)
                    + few * small.strides.get("saved", 0))
        if mixed.arena != form:
            yield f"expected {form} bytes by the closed form, found {mixed.arena}"
    yield from order(mixed, flight - few)


def order(stage, large):
    """A small slot is taken where all large ones are."""
    pool = "operand" if "operand" in stage.slots else "saved"
    end = "weight" if any("weight" in form for _, form, _, _ in stage.rows) else ""
    taken = 0
    for kind, form, microbatch, _ in stage.rows:
        again = "recompute" in form
        if kind == "fwd" and again and taken < large:
            yield f"microbatch {microbatch} is computed again though a slot of {pool} is free"
        if not again and (kind == "fwd" or end in form):
            taken += 1 if kind == "fwd" else -1


def main():
    mtc, report = Mtc(), Report()
    for layout in LAYOUTS:
        whole, small = stages(mtc, layout, "none"), stages(mtc, layout, "full")
        for count in (1, 2):
            mixed = stages(mtc, layout, f"microbatches={count}")
            for index, stage in enumerate(zip(whole, small, mixed)):
                found = list(problems(*stage, count))
                print(f"{layout.name} microbatches={count} stage {index}: "
                      f"{stage[2].arena} bytes, {stage[0].arena} under none, "
                      f"{stage[1].arena} under full", flush=True)
                for problem in found:
                    report.expect(False, f"{layout.name}, microbatches={count}, stage "
                                         f"{index}: {problem}")
                # Halves of a backward keep what is computed again for each other.
                halves = "operand" in stage[0].slots
                report.expect(halves or stage[1].arena <= stage[2].arena <= stage[0].arena,
                              f"{layout.name}: expected a size between full and none")
    return report.finish("slots of two sizes")


if __name__ == "__main__":
    sys.exit(main())
