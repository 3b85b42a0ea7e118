#!/usr/bin/env python3
"""Every fenced example of docs/reference is IR that mtc-opt reads and verifies.

An example is an excerpt. Here it becomes a module: a name that nothing defines gets a
definition of the type that its first use asks for, an op of a kernel's body a kernel, an
attribute an op. usage: test_examples.py SOURCE BUILD
"""

import pathlib
import re
import subprocess
import sys

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
# The pages have 134 today; fewer than this would mean that this test looks past them.
FEWEST = 130
# Every round types one more name of each example, and no example has as many free names.
ROUNDS = 32
UNTYPED = "none"
UNDECLARED = "use of undeclared SSA value name"
TYPED = re.compile(rf"use of value '(%\w+)' expects different type than prior uses: "
                   rf"'(.*)' vs '{UNTYPED}'")
ERROR = re.compile(r"<stdin>:(\d+):(\d+): error: (.*)")
NAME = re.compile(r"%\w+")

IN_KERNEL = re.compile(r"(%\w+ = )?rt\.(accumulate|arg|gather|index|load|random|row_reduce|"
                       r"scatter_add|store) ")
# Operands as the examples number them: 1 is a table, the others are read and written.
FULL, TABLE = (f"#rt.operand<mode = {mode}, element = f32, extent = {extent}>"
               for mode, extent in (("full", 0), ("table", 8)))
KERNEL = f"rt.kernel @example rows 8 cols 8 args 1 [{FULL}, {TABLE}, {FULL}, {FULL}] {{"
MESH = 'module attributes {dist.mesh = #dist.mesh<["dp" = 2, "tp" = 2]>} {'


class Example:
    """One step of a block, with the types of its free names as far as they are known."""

    def __init__(self, place, block, text):
        self.place, self.block, self.text = place, block, text.strip("\n")
        self.types, self.errors = {}, []

    def definition(self, name):
        kind = self.types[name]
        # The body of a kernel has no casts; its scalars may be constants.
        if IN_KERNEL.match(self.text) and kind != UNTYPED:
            return f"{name} = arith.constant {0.0 if kind[0] in 'bf' else 0} : {kind}"
        return f"{name} = builtin.unrealized_conversion_cast to {kind}"

    def lines(self):
        """Those of a module without free names."""
        if self.text.startswith("#"):
            return [f"module attributes {{mtc.example = {self.text}}} {{}}"]
        lines = [*map(self.definition, self.types), *self.text.split("\n")]
        if IN_KERNEL.match(self.text):
            lines = [KERNEL, *lines, "}"]
        return [MESH, *lines, "}"]

    def learn(self, line, column, message):
        """Takes what an error says of a free name, or keeps the error."""
        typed = TYPED.fullmatch(message)
        if message == UNDECLARED:
            self.types.setdefault(NAME.match(line, column)[0], UNTYPED)
        elif typed and self.types.get(typed[1]) == UNTYPED:
            self.types[typed[1]] = typed[2]
        else:
            self.errors.append(message)


def examples():
    for page in sorted((SOURCE / "docs" / "reference").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(r"^```mlir\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, found.start(1)) + 1
            # A name may stand in two steps of one block: each step is read alone.
            for step in found[1].split("\n\n"):
                yield Example(f"{page.relative_to(SOURCE)}:{line}", found[1], step)


def read(todo):
    """Reads `todo` in one run, a split for each; returns those that have to be read again."""
    owner, text = [], []
    for example in todo:
        lines = [*example.lines(), "// -----"]
        owner += [(example, line) for line in lines]
        text += lines
    result = subprocess.run([BUILD / "bin" / "mtc-opt", "--split-input-file", "-"],
                            input="\n".join(text), text=True, capture_output=True)
    found = [(*owner[int(line) - 1], int(column) - 1, message)
             for line, column, message in ERROR.findall(result.stderr)]
    if result.stderr.count("error:") != len(found) or (result.returncode != 0) != bool(found):
        sys.exit(f"expected errors with a place in an example, found exit code "
                 f"{result.returncode} and\n{result.stderr}")
    for example, *error in found:
        example.learn(*error)
    return [example for example in todo
            if not example.errors and any(example is e for e, *_ in found)]


def main():
    every = todo = list(examples())
    for _ in range(ROUNDS):
        todo = read(todo)
        if not todo:
            break
    for example in todo:
        example.errors.append(f"no types after {ROUNDS} rounds")
    wrong = [example for example in every if example.errors]
    for example in wrong:
        print(f"{example.place}: expected IR that mtc-opt reads and verifies, found "
              f"{'; '.join(example.errors)}\n{example.block}")
    number = len({example.place for example in every})
    if number < FEWEST:
        print(f"expected {FEWEST} examples or more, found {number}")
    print(f"{number} examples in {len(every)} steps, {len(wrong)} failures")
    return 1 if wrong or number < FEWEST else 0


if __name__ == "__main__":
    sys.exit(main())
