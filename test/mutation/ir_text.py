"""Printed IR as lines: enough of it to edit one op, whatever its dialect."""

import re
from dataclasses import dataclass, field

LINE = re.compile(r"^(?P<indent> *)(?:(?P<results>%[\w#]+(?::\d+)?(?:, %[\w#]+(?::\d+)?)*) = )?"
                  r"(?P<name>[a-z_]+\.[\w.]+|return)\b(?P<rest>.*)$")
VALUE = re.compile(r"%[\w#]+")
INTEGER = re.compile(r"(?<![\w.#%@x-])-?\d+(?![\w.]|x)")
OPENS = re.compile(r"[{\[]$")


@dataclass
class Op:
    """A line of IR that is one whole op, or opens one with a region."""
    line: int
    name: str
    results: list
    operands: list  # SSA names in order, as printed
    block: int      # the line that opened its block; -1: the top
    opens: bool
    rest: str = ""  # behind its name, as printed
    end: int = -1   # of an op with a region: the line that closes it
    types: dict = field(default_factory=dict)  # of operands and results, where known


def split_types(text):
    """Types of a list, commas inside brackets left alone."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return parts + [current.strip()] if current.strip() else parts


def signature(rest):
    """Operand and result types at the end of a line: `: (a, b) -> c`, `: a, b -> c` or
    `: a`; none where the op prints none."""
    at = rest.rfind(" : ")
    if at < 0:
        return [], []
    text = rest[at + 3:]
    operands, arrow, results = text.partition(" -> ")

    def strip(part):
        part = part.strip()
        return part[1:-1] if part.startswith("(") and part.endswith(")") else part
    return split_types(strip(operands)), split_types(strip(results)) if arrow else []


class Text:
    """A module as lines, with its ops."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.ops = []
        self.blocks = {}   # ops without regions by block, in order
        self.by_name = {}  # ops by name
        self.known_names = {}
        self.regions = []  # ops that have a region, as they end
        self.read()

    def read(self):
        open_blocks, opening = [-1], {}
        for number, line in enumerate(self.lines):
            stripped = line.strip()
            if stripped.startswith("}") and len(open_blocks) > 1:
                closed = opening.get(open_blocks.pop())
                if closed:
                    closed.end = number
                    self.regions.append(closed)
            found = LINE.match(line)
            opens = bool(OPENS.search(line)) and stripped not in ("{", "[")
            if found:
                op = self.make(number, found, open_blocks[-1], opens)
                self.add(op)
                if opens:
                    opening[number] = op
            if opens:
                open_blocks.append(number)

    def add(self, op):
        self.blocks.setdefault(op.block, [])
        if op.name == "return":
            return
        self.ops.append(op)
        self.by_name.setdefault(op.name, []).append(op)
        if not op.opens:
            self.blocks[op.block].append(op)

    def names(self, op_name, first, pattern):
        """The different names that ops of a name have, of those that begin alike."""
        key = op_name, first
        if key not in self.known_names:
            found = [m[0] for op in self.by_name[op_name]
                     for m in pattern.finditer(self.lines[op.line]) if m[0][0] == first]
            self.known_names[key] = list(dict.fromkeys(found))
        return self.known_names[key]

    def make(self, number, found, block, opens):
        results = re.findall(r"%[\w]+", found["results"] or "")
        head = found["rest"]
        operands = VALUE.findall(head)
        op = Op(number, found["name"], results, operands, block, opens, head)
        ins, outs = signature(head)
        if len(ins) == len(operands):
            op.types.update(zip(operands, ins))
        if not outs and len(results) == 1 and ins:
            outs = ins[-1:]
        if len(outs) == len(results):
            op.types.update(zip(results, outs))
        return op

    def edited(self, changes, insert=None):
        """The text with lines replaced (None: dropped), and with lines inserted before
        the line of a number."""
        out = []
        for number, line in enumerate(self.lines):
            out += (insert or {}).get(number, [])
            line = changes.get(number, line)
            if line is not None:
                out.append(line)
        return "\n".join(out)


def rename(line, names):
    """Replaces whole SSA names."""
    return VALUE.sub(lambda m: names.get(m[0], m[0]), line)
