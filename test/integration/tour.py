#!/usr/bin/env python3
"""The commands of the README's tour, as a script for sh that calls an installed mtc.

    tour.py README.md > tour.sh; sh -e tour.sh TEXT

TEXT is a file of plain text, which takes the place of the demo's book.
"""

import re
import sys


def commands(readme):
    """In order: lines of blocks that begin with a dollar sign, and mtc between backticks."""
    tour = re.search(r"^## A tour$(.*?)^## ", readme, re.MULTILINE | re.DOTALL)[1]
    return [block or inline for block, inline in re.findall(
        r"^\$ (.*)$|`(build/bin/mtc [^`]+)`", tour, re.MULTILINE)]


def script(readme):
    lines = [line.replace("build/bin/mtc", "mtc").replace("build/demo/book.bin", '"$1"')
             for line in commands(readme)]
    return "".join(f"{line}\n" for line in ["set -ex", *lines])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(script(file.read()))
