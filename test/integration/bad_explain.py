"""Questions that a bundle has no answer to, and bundles that cannot be asked."""

import json
import os

from bad_bundles import case, damage, damaged, removed
from bad_case import Case, is_pipe, pipe, then

USAGE, REJECTD, UNWRITABLE = 2, 3, 18
EXPLAIN = ["explain", "two"]
ASK = ["explain", "bad"]


def question(name, words, says, code=USAGE):
    return Case("explain: " + name, [*EXPLAIN, *words], code, says)


def edited(edit):
    def damage_file(content):
        fields = json.loads(content)
        edit(fields)
        return json.dumps(fields)
    return damaged("explain.json", damage_file)


def of_before(place):
    removed("explain.json")(place)
    manifest = json.loads(place.read("bad/manifest.json"))
    manifest["files"].pop("explain.json")
    place.write("bad/manifest.json", json.dumps(manifest))


def spoil(fields):
    stage = fields["stages"][0]
    stage["peak_row"] = 10 ** 9
    stage["collectives"][0]["bytes"] = -1
    stage["row_fragment"].pop()


CASES = [
    Case("explain: no bundle", ["explain"], USAGE, ["bundle", "mtc explain --help"]),
    Case("explain: a file", ["explain", "tiny.toml"], REJECTD, ["tiny.toml", "expected a bundle"]),
    Case("explain: an absent bundle", ["explain", "absent"], REJECTD, ["absent"]),
    Case("explain: a folder that is none", ["explain", "empty"], REJECTD, ["empty"],
         lambda place: os.mkdir(place.path("empty")), leaves=("empty",)),
    question("a parameter that is none", ["--parameter", "layers.9.mlp.up.weight"],
             ["--parameter: expected a parameter of the bundle such as layers.0.",
              "'layers.9.mlp.up.weight'"]),
    question("a group that is none", ["--collective", "pp"],
             ["--collective: expected a number or one of tp, dp", "'pp'"]),
    question("a group without a name", ["--collective", ""],
             ["--collective: expected a number, a group, or nothing behind it", "found ''"]),
    question("a number that is none", ["--collective", "99999"],
             ["--collective: expected a number below", "99999"]),
    question("a rank that is none", ["--rank", 4], ["--rank: expected one of 0 to 3, found 4"]),
    question("a rank below the first", ["--rank", -1], ["--rank", "'-1'"]),
    question("two questions", ["--rank", 0, "--collective"], ["--rank", "--collective"]),
    question("a picture of nothing", ["--svg", "s.svg"], ["--svg: expected --rank N with it"]),
    question("a picture in a bundle", ["--rank", 0, "--svg", "two/s.svg"], ["--svg", "bundle"]),
    question("a picture in a folder that is not there", ["--rank", 0, "--svg", "no/s.svg"],
             ["no/s.svg"], UNWRITABLE),
    Case("explain: a picture into a pipe", [*EXPLAIN, "--rank", 0, "--svg", "pipe"], UNWRITABLE,
         ["'pipe'", "expected a new name or a regular file, found a pipe (FIFO)"], pipe,
         act=then(is_pipe)),
    question("a picture to standard output", ["--rank", 0, "--svg", "-"],
             ["--svg: expected a file, found '-'"]),
    case("explain without its file", removed("explain.json"),
         ["cannot read 'bad/explain.json'"], ASK),
    case("explain a bundle of before there was such a file", of_before,
         ["expected the file that mtc explain reads", "compile the bundle again"], ASK),
    case("explain by noise", damaged("explain.json", lambda _: bytes(range(256))),
         ["explain.json"], ASK),
    case("explain another plan", edited(lambda fields: fields.update(plan_hash="0" * 16)),
         ["expected plan ", "found 0000000000000000"], ASK),
    case("explain fewer stages", edited(lambda fields: fields["stages"].pop()),
         ["expected 2 stages, found 1"], ASK),
    case("explain numbers that cannot be", edited(spoil),
         ["stages[0]: 'peak_row'", "stages[0].collectives[0]: 'bytes'", "as many rows in each list"],
         ASK),
    case("explain names that are none",
         edited(lambda fields: fields["stages"][0]["collectives"][0].update(
             kind="sum", group="x", origin="y", arena="z", bucket=99)),
         ["explain.json", "stages[0].collectives[0]: 'kind': expected a kind of collective, "
          "found 'sum'", "'group': expected a group, found 'x'", "'origin': expected one of f, g, sp, ",
          "'arena': expected an arena or nothing, found 'z'", "'bucket': expected 0 to"],
         ["explain", "bad", "--collective"]),
    case("explain text that a terminal obeys",
         edited(lambda fields: fields["stages"][0]["collectives"][0].update(
             part="\x1b[2J", serves="a\nb")),
         ["explain.json", "'part': expected text without control characters, found "
          '"\\u001b[2J"', "'serves': expected text without control characters"],
         ["explain", "bad", "--collective"]),
    damage("explain a bundle with a flipped bit", "explain.json", ["explain", "bad"]),
]
