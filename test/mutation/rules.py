"""The edits. A rule takes the IR and one of its ops, and gives its sites: a sentence that
says what is done, and the whole edited text (made when asked for).

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


SYMBOLS = ("func.func", "rt.program", "rt.timeline", "rt.kernel", "pipe.timeline",
           "pipe.schedule")


def is_symbol(op):
    """Ops that others name: a copy of one does not parse."""
    return op.opens or op.name in SYMBOLS


def drop(text, op):
    """An op is gone; who read its result reads its first operand of the same type."""
    if op.opens:
        return
    names = {}
    for result in op.results:
        kind = op.types.get(result)
        same = [o for o in op.operands if kind and op.types.get(o) == kind]
        if same:
            names[result] = same[0]
    block = text.blocks[op.block]
    read = {name for other in block if other is not op for name in other.operands}
    if any(r in read and r not in names for r in op.results):
        return

    def make():
        changes = {other.line: rename(text.lines[other.line], names)
                   for other in block if other.line > op.line} if names else {}
        return text.edited({**changes, op.line: None})
    yield Site(f"drop {op.name}", op, make)


def duplicate(text, op):
    """An op stands twice."""
    if is_symbol(op):
        return
    copy = rename(text.lines[op.line], {r: f"%copy_{r[1:]}" for r in op.results})
    yield Site(f"duplicate {op.name}", op, lambda: text.edited({}, {op.line + 1: [copy]}))


def crosses(op, others):
    """True if an op cannot pass the others: one makes what another reads."""
    made, read = set(op.results), set(op.operands)
    return any(made & set(o.operands) or read & set(o.results) for o in others)


def move(text, op):
    """An op stands some ops later or earlier in its block."""
    ops = text.blocks[op.block]
    i = ops.index(op) if op in ops else -1
    for by in (-7, -3, -2, 2, 3, 7) if i >= 0 else ():
        if not 0 <= i + by < len(ops):
            continue
        if crosses(op, ops[i + 1:i + by + 1] if by > 0 else ops[i + by:i]):
            continue
        at = ops[i + by].line + (1 if by > 0 else 0)
        yield Site(f"move {op.name} by {by}", op, lambda at=at: text.edited(
            {op.line: None}, {at: [text.lines[op.line]]}))


def exchange(text, op):
    """It changes places with the last one of its name in the block."""
    ops = text.blocks[op.block]
    if op not in ops:
        return
    i = ops.index(op)
    j = next((j for j in range(i - 1, -1, -1) if ops[j].name == op.name), None)
    if j is None or crosses(ops[j], ops[j + 1:i + 1]) or crosses(op, ops[j:i]):
        return
    other = ops[j]
    yield Site(f"exchange two {op.name}", op, lambda: text.edited(
        {other.line: text.lines[op.line], op.line: text.lines[other.line]}))


def cross(text, op):
    """An op goes out of the region that it is the first or last of, or into the region
    that it stands before or behind."""
    def site(where, at):
        return Site(f"move {op.name} {where}", op, lambda: text.edited(
            {op.line: None}, {at: [text.lines[op.line]]}))

    for region in text.regions:
        inside = text.blocks.get(region.line)
        if op.opens or not inside or region.name in SYMBOLS:
            continue
        if op is inside[0]:
            yield site("out of the region, to its front", region.line)
        if op in inside[-2:]:  # the last may be a terminator
            yield site("out of the region, to its back", region.end + 1)
        if op.line == region.line - 1:
            yield site("into the region behind it", region.line + 1)
        if op.line == region.end + 1:
            yield site("into the region before it", inside[-1].line)
            yield site("to the end of the region before it", region.end)


def split(text, op):
    """A region becomes two: its first op, and the rest, which reads what that gives.
    Not a sum that a sink takes: it would be added at once and not in parts."""
    inside = text.blocks.get(op.line, [])
    if op.end < 0 or op.name in SYMBOLS or len(inside) < 3 or len(inside[0].results) != 1:
        return
    first, rest = inside[0], inside[1:]
    result = first.results[0]
    kind = first.types.get(result)
    if not kind or any(result in o.operands for o in rest
                       if o.name.startswith("pipe.") or o.name.endswith(".yield")):
        return
    changes = {o.line: rename(text.lines[o.line], {result: "%split"}) for o in rest}
    indent = " " * (len(text.lines[op.line]) - len(text.lines[op.line].lstrip()))
    yields = op.name.split(".")[0] + ".yield"
    before = [f"{indent}%split = {op.name} -> ({kind}) {{", text.lines[first.line],
              f"{indent}  {yields} {result} : {kind}", indent + "}"]
    yield Site(f"split {op.name}", op, lambda: text.edited(
        {**changes, first.line: None}, {op.line: before}))


def with_operands(text, op, operands):
    """The line with other operands, in the places of the old ones."""
    line = text.lines[op.line]
    head = re.match(r"^ *(?:%.*? = )?[a-z_]+\.[\w.]+", line).end()
    left = iter(operands)
    return line[:head] + VALUE.sub(lambda m: next(left), line[head:])


def swap_operands(text, op):
    """Two operands of one type change places."""
    for i in range(len(op.operands)):
        for j in range(i + 1, len(op.operands)):
            a, b = op.operands[i], op.operands[j]
            if a == b or op.types.get(a) != op.types.get(b):
                continue
            swapped = list(op.operands)
            swapped[i], swapped[j] = b, a
            yield Site(f"swap operands of {op.name}", op, lambda s=swapped: text.edited(
                {op.line: with_operands(text, op, s)}))


def other_operand(text, op):
    """An operand is another value of its type, the one made last before."""
    for i, operand in enumerate(op.operands):
        kind = op.types.get(operand)
        other = next((r for before in reversed(text.blocks[op.block])
                      if before.line < op.line for r in before.results
                      if kind and before.types.get(r) == kind), None)
        if other and other != operand:
            chosen = op.operands[:i] + [other] + op.operands[i + 1:]
            yield Site(f"another operand of {op.name}", op, lambda c=chosen: text.edited(
                {op.line: with_operands(text, op, c)}))


def line_with(text, op, found, new):
    line = text.lines[op.line]
    return line[:found.start()] + new + line[found.end():]


def number(text, op):
    """One integer is another: offsets, slots, strides, counts, events, microbatches,
    chunks, ranges, sizes."""
    line = text.lines[op.line]
    for found in INTEGER.finditer(line):
        old, of = int(found[0]), word_before(line, found.start())
        for new in sorted({old + 1, old - 1, 2 * old, 0, -1, old + 64} - {old}):
            yield Site(f"{of} of {op.name}: {old} to {new}", op,
                       lambda f=found, n=new: text.edited(
                           {op.line: line_with(text, op, f, str(n))}))


# Words of which one can stand for another.
WORDS = [["tp", "cp", "dp", "embedding", "all"], ["true", "false"],
         ["all_reduce", "all_reduce_max", "reduce_scatter", "all_gather"],
         ["sum", "max"], ["f32", "bf16", "f16"], ["full", "row", "col", "scalar", "periodic"],
         ["accumulate", "reset", "finish"], ["load", "run"], ["post", "wait"], ["train", "eval"],
         ["activation", "gradient"], ["F", "B"],
         ["forward", "backward", "eval", "reduce", "apply"],
         ["params", "grads", "optimizer", "activations", "workspace", "step"],
         ["recv_activation", "recv_gradient", "send_activation", "send_gradient", "saved"],
         ["param", "grad", "state", "loss"], ["main", "exp_avg", "exp_avg_sq"],
         ["beta1", "beta2", "one_minus_beta1", "one_minus_beta2", "lr", "eps"],
         ["zeros", "ones", "normal"], ["ids", "labels", "document_starts"],
         ["loss_weights", "gradient_weights"]]
ALTERNATIVES = {}
for group in WORDS:
    for each in group:
        ALTERNATIVES.setdefault(each, []).extend(o for o in group if o != each)
WORD = re.compile(r"(?<![\w.%@#])(" + "|".join(sorted(ALTERNATIVES, key=len, reverse=True))
                  + r")(?![\w.])")


def word(text, op):
    """One word is another of its kind: groups, flags, kinds, types, phases, fields."""
    for found in WORD.finditer(text.lines[op.line]):
        for other in ALTERNATIVES[found[1]]:
            yield Site(f"{found[1]} to {other} in {op.name}", op,
                       lambda f=found, o=other: text.edited(
                           {op.line: line_with(text, op, f, o)}))


NAME = re.compile(r'@\w+|"[^"]*\w[^"]*"')


def name(text, op):
    """One name is another that the IR has in an op of this kind: kernels, fragments,
    parameters, timelines."""
    for found in NAME.finditer(text.lines[op.line]):
        others = text.names(op.name, found[0][0], NAME)
        at = others.index(found[0])
        for other in sorted({others[at - 1], others[(at + 1) % len(others)]} - {found[0]}):
            yield Site(f"{found[0]} to {other} in {op.name}", op,
                       lambda f=found, o=other: text.edited(
                           {op.line: line_with(text, op, f, o)}))


TOKEN = re.compile(f"{INTEGER.pattern}|{NAME.pattern}")


def word_before(line, at):
    """What a number or a name is of, as far as its line says."""
    found = re.search(r"(\w+)[ =\[,]*$", line[:at])
    return found[1] if found else "one"


def shape(line):
    """A line without its values, numbers and names."""
    return TOKEN.sub("?", VALUE.sub("%", line))


def trade(text, op):
    """It and the last one like it in the block exchange one number or name: both still
    are what some op has."""
    ops = text.blocks[op.block]
    line = text.lines[op.line]
    before = ops[:ops.index(op)] if op in ops and not is_symbol(op) else []
    other = next((o for o in reversed(before)
                  if o.name == op.name and shape(text.lines[o.line]) == shape(line)), None)
    if other is None:
        return
    pairs = zip(TOKEN.finditer(text.lines[other.line]), TOKEN.finditer(line))
    for theirs, mine in pairs:
        if theirs[0] != mine[0]:
            yield Site(f"{word_before(line, mine.start())} {mine[0]} and {theirs[0]} of two "
                       f"{op.name}", op, lambda t=theirs, m=mine: text.edited(
                           {other.line: line_with(text, other, t, m[0]),
                            op.line: line_with(text, op, m, t[0])}))


# What says where or when something is, so that two of a kind can change places as a whole.
PLACES = re.compile(r"\b(stage|chunk|microbatch|bucket|event|use|peer)( = | )(\d+)\b")


def everywhere(text, op):
    """Two stages, buckets, events, ... change places in the whole IR."""
    for found in PLACES.finditer(text.lines[op.line]):
        kind, first = found[1], found[3]
        second = str(int(first) + 1)

        def swapped(m, kind=kind, names={first: second, second: first}):
            return m[0] if m[1] != kind else m[1] + m[2] + names.get(m[3], m[3])

        def make(swapped=swapped):
            return text.edited({i: PLACES.sub(swapped, line)
                                for i, line in enumerate(text.lines) if PLACES.search(line)})
        yield Site(f"{kind} {first} and {second} everywhere", op, make)


FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]\d+)?")


def constant(text, op):
    """A floating-point constant is another."""
    for found in FLOAT.finditer(text.lines[op.line]):
        new = f"{float(found[0]) * 0.5 + 0.25:e}"
        yield Site(f"constant of {op.name}", op, lambda f=found, n=new: text.edited(
            {op.line: line_with(text, op, f, n)}))


def item(text, op):
    """An element of a list is dropped or stands twice: rows of tables, transfers."""
    line = text.lines[op.line]
    for found in re.finditer(r"#\w+\.\w+<(?:[^<>]|<[^<>]*>)*>", line):
        end = found.end() + (2 if line[found.end():found.end() + 2] == ", " else 0)
        yield Site(f"drop an item of {op.name}", op, lambda f=found, e=end: text.edited(
            {op.line: line[:f.start()] + line[e:]}))
        yield Site(f"repeat an item of {op.name}", op, lambda f=found: text.edited(
            {op.line: line_with(text, op, f, f"{f[0]}, {f[0]}")}))


RULES = {rule.__name__: rule for rule in
         (drop, duplicate, move, exchange, cross, split, swap_operands, other_operand, number, word, name,
          trade, everywhere, constant, item)}
