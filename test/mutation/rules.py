"""The edits. Each rule takes the IR as text and gives its sites: a sentence that says
what is done, the line it is done at, and the whole edited text (made when asked for).

Rules know the shape of printed ops and nothing of what they mean, so that they work on
every phase, and on whatever its IR will be.
"""

import re
from dataclasses import dataclass
from typing import Callable

from ir_text import INTEGER, VALUE, rename


@dataclass(frozen=True)
class Site:
    what: str
    op: object  # the ir_text.Op that is edited
    make: Callable[[], str]


def is_symbol(op):
    """Ops that others name: a copy of one does not parse."""
    return op.opens or op.name in ("func.func", "rt.program", "rt.timeline", "rt.kernel",
                                   "pipe.timeline", "pipe.schedule")


def plain(text):
    return [op for op in text.ops if not op.opens]


def drop(text):
    """An op is gone; who read its result reads its first operand of the same type."""
    for op in plain(text):
        names = {}
        for result in op.results:
            kind = op.types.get(result)
            same = [o for o in op.operands if kind and op.types.get(o) == kind]
            if same:
                names[result] = same[0]
        read = {name for other in text.ops if other.block == op.block and other is not op
                for name in other.operands}
        if any(r in read and r not in names for r in op.results):
            continue

        def make(op=op, names=names):
            changes = {other.line: rename(text.lines[other.line], names)
                       for other in text.ops
                       if other.block == op.block and other.line > op.line} if names else {}
            return text.edited({**changes, op.line: None})
        yield Site(f"drop {op.name}", op, make)


def copy_of(text, op):
    return rename(text.lines[op.line], {r: f"%copy_{r[1:]}" for r in op.results})


def duplicate(text):
    """An op stands twice."""
    for op in plain(text):
        if not is_symbol(op):
            yield Site(f"duplicate {op.name}", op, lambda op=op: text.edited(
                {}, {op.line + 1: [copy_of(text, op)]}))


def blocks(text):
    """Ops of a block in order, by block; only blocks with several."""
    found = {}
    for op in plain(text):
        found.setdefault(op.block, []).append(op)
    return [ops for ops in found.values() if len(ops) > 1]


def crosses(op, others):
    """True if an op cannot pass the others: one makes what another reads."""
    made, read = set(op.results), set(op.operands)
    return any(made & set(o.operands) or read & set(o.results) for o in others)


def move(text):
    """An op stands some ops later or earlier in its block."""
    for ops in blocks(text):
        for i, op in enumerate(ops):
            for by in (-7, -3, -2, 2, 3, 7):
                if not 0 <= i + by < len(ops):
                    continue
                passed = ops[i + 1:i + by + 1] if by > 0 else ops[i + by:i]
                if crosses(op, passed) or any(o.name == "return" for o in passed):
                    continue
                at = ops[i + by].line + (1 if by > 0 else 0)
                yield Site(f"move {op.name} by {by}", op, lambda op=op, at=at: text.edited(
                    {op.line: None}, {at: [text.lines[op.line]]}))


def exchange(text):
    """Two neighbours of one name change places."""
    for ops in blocks(text):
        last = {}
        for i, op in enumerate(ops):
            j = last.get(op.name)
            last[op.name] = i
            other = ops[j] if j is not None else None
            if other and not crosses(other, ops[j + 1:i + 1]) \
                    and not crosses(op, ops[j:i]):
                yield Site(f"exchange two {op.name}", op, lambda a=other, b=op: text.edited(
                    {a.line: text.lines[b.line], b.line: text.lines[a.line]}))


def with_operands(text, op, operands):
    """The line with other operands, in the places of the old ones."""
    line = text.lines[op.line]
    head = re.match(r"^ *(?:%.*? = )?[a-z_]+\.[\w.]+", line).end()
    left = iter(operands)
    return line[:head] + VALUE.sub(lambda m: next(left), line[head:])


def swap_operands(text):
    """Two operands of one type change places."""
    for op in plain(text):
        for i in range(len(op.operands)):
            for j in range(i + 1, len(op.operands)):
                a, b = op.operands[i], op.operands[j]
                if a == b or op.types.get(a) != op.types.get(b):
                    continue
                swapped = list(op.operands)
                swapped[i], swapped[j] = b, a
                yield Site(f"swap operands of {op.name}", op,
                           lambda op=op, s=swapped: text.edited(
                               {op.line: with_operands(text, op, s)}))


def other_operand(text):
    """An operand is another value of its type, the one made last before."""
    for ops in blocks(text):
        last = {}
        for op in ops:
            for i, operand in enumerate(op.operands):
                other = last.get(op.types.get(operand))
                if other and other != operand:
                    chosen = op.operands[:i] + [other] + op.operands[i + 1:]
                    yield Site(f"another operand of {op.name}", op,
                               lambda op=op, c=chosen: text.edited(
                                   {op.line: with_operands(text, op, c)}))
            for result in op.results:
                if result in op.types:
                    last[op.types[result]] = result


def numbers_of(line):
    """The integers of a line that are no part of a type or a name."""
    return [m for m in INTEGER.finditer(line)]


def number(text):
    """One integer is another: offsets, slots, strides, counts, events, microbatches,
    chunks, ranges, sizes."""
    for op in text.ops:
        line = text.lines[op.line]
        for found in numbers_of(line):
            old = int(found[0])
            for new in {old + 1, old - 1, 2 * old, 0, -1, old + 64} - {old}:
                word = re.search(r"(\w+)[ =\[,]*$", line[:found.start()])
                what = word[1] if word else "number"
                yield Site(f"{what} of {op.name}: {old} to {new}", op,
                           lambda op=op, f=found, n=new: text.edited(
                               {op.line: line_with(text, op, f, str(n))}))


def line_with(text, op, found, new):
    line = text.lines[op.line]
    return line[:found.start()] + new + line[found.end():]


# Words of which one can stand for another.
WORDS = [["tp", "dp", "embd", "all"], ["true", "false"],
         ["all_reduce", "all_reduce_max", "reduce_scatter", "all_gather"],
         ["sum", "max"], ["f32", "bf16"], ["full", "row", "col", "scalar", "periodic"],
         ["accumulate", "reset", "finish"], ["load", "run"], ["train", "eval"],
         ["activation", "gradient"], ["F", "B"], ["forward", "backward", "eval"],
         ["param", "main", "grad", "exp_avg", "exp_avg_sq", "loss"],
         ["beta1", "beta2", "one_minus_beta1", "one_minus_beta2", "lr", "eps"],
         ["zeros", "ones", "normal"], ["ids", "labels"]]
ALTERNATIVES = {word: [o for o in group if o != word] for group in WORDS for word in group}
WORD = re.compile(r"(?<![\w.%@#])(" + "|".join(sorted(ALTERNATIVES, key=len, reverse=True))
                  + r")(?![\w.])")


def word(text):
    """One word is another of its kind: groups, flags, kinds, types, phases, fields."""
    for op in text.ops:
        line = text.lines[op.line]
        for found in WORD.finditer(line):
            for other in ALTERNATIVES[found[1]]:
                yield Site(f"{found[1]} to {other} in {op.name}", op,
                           lambda op=op, f=found, o=other: text.edited(
                               {op.line: line_with(text, op, f, o)}))


NAME = re.compile(r'@\w+|"[^"]*\w[^"]*"')


def name(text):
    """One name is another that the IR has in an op of this kind: kernels, fragments,
    parameters, timelines."""
    known = {}
    for op in text.ops:
        for found in NAME.finditer(text.lines[op.line]):
            kind = (op.name, found[0][0])
            known.setdefault(kind, [])
            if found[0] not in known[kind]:
                known[kind].append(found[0])
    for op in text.ops:
        for found in NAME.finditer(text.lines[op.line]):
            others = known[(op.name, found[0][0])]
            at = others.index(found[0])
            for other in {others[at - 1], others[(at + 1) % len(others)]} - {found[0]}:
                yield Site(f"{found[0]} to {other} in {op.name}", op,
                           lambda op=op, f=found, o=other: text.edited(
                               {op.line: line_with(text, op, f, o)}))


FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]\d+)?")


def constant(text):
    """A floating-point constant is another."""
    for op in text.ops:
        line = text.lines[op.line]
        for found in FLOAT.finditer(line):
            new = f"{float(found[0]) * 0.5 + 0.25:e}"
            yield Site(f"constant of {op.name}", op, lambda op=op, f=found, n=new:
                       text.edited({op.line: line_with(text, op, f, n)}))


def item(text):
    """An element of a list is dropped or stands twice: rows of tables, transfers."""
    for op in text.ops:
        line = text.lines[op.line]
        for found in re.finditer(r"#\w+\.\w+<[^<>]*>", line):
            end = found.end() + (2 if line[found.end():found.end() + 2] == ", " else 0)
            yield Site(f"drop an item of {op.name}", op, lambda op=op, f=found, e=end:
                       text.edited({op.line: text.lines[op.line][:f.start()]
                                    + text.lines[op.line][e:]}))
            yield Site(f"repeat an item of {op.name}", op, lambda op=op, f=found:
                       text.edited({op.line: line_with(text, op, f, f"{f[0]}, {f[0]}")}))


RULES = {rule.__name__: rule for rule in
         (drop, duplicate, move, exchange, swap_operands, other_operand, number, word, name,
          constant, item)}
