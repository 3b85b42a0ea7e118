#!/usr/bin/env python3
"""Every branch of the verifiers fires: each error statement is expected by a test.

The script reads the sources of the verifiers, and of the passes that report much of a
user's input (shardings, stages, schedules), takes the text of each error statement, and
looks for a check of a test that expects this text: a FileCheck line or an
expected-error of test/lit, a string in an EXPECT of test/unit. Checks are handed out:
one check proves one statement, so the same text at three places needs three checks
(a statement that only goes on with a message, `diag << ..`, may share them).
Further,

- an operand of `? :` in a message is a branch, and each needs a check that says it;
- an error of `XOp::verify` needs its check at an op tfm.x, rt.x or dist.x, and a
  helper that `XOp::verify` calls needs a check at such an op too;
- a call of one of the helpers in SHAPED below is a branch with its own words.

A check counts if it says all of the message's own text, in order; values may be
regular expressions in the check. That the check passes is what lit is for.
"""

import collections
import pathlib
import re
import sys

SOURCES = ["passes/verify/*.cpp", "passes/model/VerifyTraining.cpp",
           "dialects/*/*.cpp", "passes/model/Differentiate.cpp", "passes/pipeline/*.cpp",
           "passes/sharding/*.cpp", "passes/plan/FormClusters.cpp",
           "passes/plan/OutlineKernels.cpp", "passes/plan/LowerCalls.cpp",
           "passes/plan/Calls.cpp", "passes/plan/Collectives.cpp", "passes/plan/Sinks.cpp",
           "passes/plan/KernelWriter.cpp", "passes/plan/FragmentMemory.cpp"]

# Helpers that make a message of a word: the text before and after the word. Each call
# with a literal word is a branch; the statement inside is not one of its own.
SHAPED = {"expectShape": ("expected ", [" of shape [", None, "], found ["]),
          "expect": ("expected ", [" of ", None, " elements, found "]),
          "mismatch": ("expected ", [" ", None, " to be ", None, ", found ", None])}

# Branches that no IR can reach: file, words of the message, why. Few, with a reason.
UNREACHABLE = [
    ("DistAttrs.cpp", "expected one state per axis",
     "the parser appends a state with every axis"),
    ("DistAttrs.cpp", "expected a dimension below",
     "the parser counts the dimensions while it reads them"),
    ("RtAttrs.cpp", "factors, found", "the parser makes one per variable"),
    ("verify/model.cpp", "expected one timeline per entry",
     "a program is a symbol table, which rejects a second timeline of that name first"),
    ("ir_graph.cpp", "expected a sharding rule for",
     "families make their rules from the operands and results of the op"),
]

ANY = None  # a value in a message, a regular expression in a check
LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def without_comments(text):
    """The same text, comments blanked, so that offsets and lines stay."""
    pattern = LITERAL + r"|'(?:[^'\\\n]|\\.)'|//[^\n]*"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0])
                  if m[0].startswith("//") else m[0], text)


def unquote(text):
    """What a run of adjacent literals means."""
    parts = re.findall(LITERAL, text)
    return "".join(p[1:-1] for p in parts).replace('\\"', '"').replace("\\\\", "\\")


def split(text, start):
    """Segments of a message from `start` to the end of the statement.

    Separators are `<<`, `+`, `,`, and the end of the call's arguments.
    """
    segments, current, depth, i = [], "", 0, start
    while i < len(text):
        literal = re.compile(LITERAL).match(text, i)
        if literal:
            current += literal[0]
            i = literal.end()
            continue
        c = text[i]
        if c == ";" and depth <= 0 or c == "}" and depth <= 0:
            break
        if c in "([{":
            depth += 1
        if c in ")]}":
            depth -= 1
        if depth <= 0 and (text.startswith("<<", i) or c in "+,") or depth < 0:
            segments.append(current)
            current = ""
            i += 2 if text.startswith("<<", i) else 1
            depth = max(depth, 0)
            continue
        current += c
        i += 1
    return segments + [current]


def tokens(segments):
    """Per segment: a string, ANY, or a tuple of the operands of `? :`."""
    out = []
    for segment in segments:
        bare = re.sub(LITERAL, "", segment).strip()
        if re.search(LITERAL, segment) and not bare.strip("(): \n"):
            out.append(unquote(segment))
        elif "?" in bare and re.search(LITERAL, segment[segment.index("?"):]):
            runs = re.findall(r"[?:]\s*(%s(?:\s*%s)*)" % (LITERAL, LITERAL), segment)
            out.append(tuple(unquote(r) for r in runs))
        elif segment.strip():
            out.append(ANY)
    return out


class Site:
    """A branch: its message, where it is, the op that it must be checked at."""

    def __init__(self, path, line, message, op=None, helper=None, continues=False):
        self.path, self.line, self.op, self.helper = path, line, op, helper
        self.tokens, self.continues = message, continues  # goes on with a message

    def variants(self):
        """The message without the operands of `? :`, then with each: (message, operand)."""
        choices = [i for i, t in enumerate(self.tokens) if isinstance(t, tuple)]
        if not choices:
            return [(self.tokens, None)]
        plain = [ANY if isinstance(t, tuple) else t for t in self.tokens]
        return [(plain, None)] + [(plain[:i] + [word] + plain[i + 1:], word)
                for i in choices for word in self.tokens[i] if re.search(r"\w", word)]

    def words(self):
        return " .. ".join("|".join(t) if isinstance(t, tuple) else t
                           for t in self.tokens if t)


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def functions(text):
    """[(offset, name)] of the functions that return a LogicalResult or a string."""
    return [(m.start(), m[1]) for m in re.finditer(
        r"^(?:template <[^>]*>\s*)?(?:static )?(?:LogicalResult|std::string|void)\s+([\w:]+)\(", text, re.M)]


def sites_of(root, path):
    text = without_comments(path.read_text())
    name = str(path.relative_to(root))
    dialect = name.split("/")[1] if name.startswith("dialects/") else None
    starts = functions(text)

    def make(at, message, direct, continues=False):
        function = next((f for o, f in reversed(starts) if o <= at), "")
        op = re.fullmatch(r"(\w+)Op::verify", function)
        op = f"{dialect}.{snake(op[1])}" if op and dialect and direct else None
        return Site(name, text.count("\n", 0, at) + 1, message, op, function,
                    continues)

    sites = []
    call = re.compile(r"(->|\.)?\b(emitOpError|emitError|error)\s*\(|"
                      r"\b(diag|error)\s*<<|\breturn\s+(?=std::string\(\"|\"expected)")
    for m in call.finditer(text):
        end = re.compile(r";").search(text, m.end())
        if not end:
            continue
        message = tokens(split(text, m.end()))
        if sum(len(t if isinstance(t, str) else max(t, key=len)) for t in message if t) < 8:
            continue
        sites.append(make(m.start(), message, m[1] is None, m[3] is not None))
    for helper, (before, after) in SHAPED.items():
        for m in re.finditer(r"\b%s\((?:\*this, |op, )?(%s)" % (helper, LITERAL), text):
            sites.append(make(m.start(), [before + unquote(m[1]) + after[0]] + after[1:], True))
    # The statements inside the helpers, told by their text, are not branches.
    return [s for s in sites if s.tokens and not inside_helper(s)]


def inside_helper(site):
    return site.helper in SHAPED or (
        site.tokens[:2] == ["expected ", ANY] and
        site.tokens[2:3] in ([" of "], [" of shape ["]))


class Check:
    """What a test expects: text with ANY for regular expressions, and the line it is at."""

    def __init__(self, where, text, at=""):
        self.where, self.at = where, at
        self.parts = [p if i % 2 == 0 else ANY
                      for i, p in enumerate(re.split(r"(\{\{.*?\}\}|\[\[.*?\]\])", text))]
        self.text = text


def lit_checks(path):
    lines = path.read_text().splitlines()
    text = "\n".join(line for line in lines if re.match(r"\s*//\s*RUN:", line))
    prefixes = set(re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", text))
    prefixes = {p for group in prefixes for p in group.split(",")} | {"CHECK"}
    for i, line in enumerate(lines):
        where = f"{path.name}:{i + 1}"
        m = re.match(r"\s*//\s*([\w-]+):\s*(.*)", line)
        if m and {m[1], re.sub(r"-(DAG|NEXT|SAME)$", "", m[1])} & prefixes:
            yield Check(where, m[2])
        m = re.search(r"expected-error\s*(?:@([+-]\d+|below|above))?\s*\{\{(.*)\}\}", line)
        if m:
            step = {"below": 1, "above": -1, None: 0}.get(m[1], None)
            step = int(m[1]) if step is None else step
            check = Check(where, "", lines[i + step])
            check.parts, check.text = [m[2]], m[2]
            yield check


def unit_checks(path):
    text = without_comments(path.read_text())
    for m in re.finditer(r"\b(?:EXPECT|ASSERT)_\w+\(", text):
        end = text.index(";", m.end())
        for run in re.findall(r"%s(?:\s*%s)*" % (LITERAL, LITERAL), text[m.end():end]):
            check = Check(f"{path.name}:{text.count(chr(10), 0, m.start()) + 1}", "")
            check.parts, check.text = [unquote(run)], unquote(run)
            yield check


def overlap(message, check):
    """Most characters of `message` that `check` says; -1 where it contradicts.

    Walks the check over the message, which stands in unknown surroundings: the check
    may begin before it or inside, and end inside or after it.
    """
    chain = [ANY]
    for t in message + [ANY]:
        chain += [ANY] if t is ANY else list(t)
    best = {i: 0 for i in range(len(chain))}
    for part in check.parts:
        if part is ANY:
            top, reach = -1, {}
            for i in range(len(chain)):
                top = max(top, best.get(i, -1))
                if top >= 0:
                    reach[i] = top
            best = reach
            continue
        for c in part:
            step = {}
            for i, score in best.items():
                # State i: the next character may come from chain[i], or, where that
                # is a value, from what follows it.
                j = i
                while j < len(chain) and chain[j] is ANY:
                    step[j] = max(step.get(j, -1), score)
                    j += 1
                if j < len(chain) and chain[j] == c:
                    step[j + 1] = max(step.get(j + 1, -1), score + 1)
            best = step
            if not best:
                return -1
    return max(best.values(), default=-1)


def expects(message, word, check):
    pieces = [t for t in message if t]
    if not pieces:
        return True
    total = sum(map(len, pieces))
    # Quick: all pieces must be said, but for a blank at the end.
    if any(piece not in check.text for piece in pieces[:-1] + [pieces[-1].rstrip(" ")]):
        return False
    if word is not None and word.strip(' "\'') not in check.text:
        return False
    return overlap(message, check) >= total - (pieces[-1][-1] == " ")


def candidates(site, checks):
    """Per variant of the site: the checks that expect it."""
    return [[c for c, check in enumerate(checks)
             if (not site.op or not check.at or site.op in check.at)
             and expects(message, word, check)] for message, word in site.variants()]


def assign(options):
    """One check for each site, each used once: the sites that get none."""
    owner = {}

    def take(site, seen):
        for check in options[site]:
            if check in seen:
                continue
            seen.add(check)
            if check not in owner or take(owner[check], seen):
                owner[check] = site
                return True
        return False

    return [s for s in sorted(range(len(options)), key=lambda s: len(options[s]))
            if not take(s, set())]


def helper_calls(root, sites):
    """[(op, helper, its sites)] for the static helpers that an op's verifier calls."""
    by_helper = collections.defaultdict(list)
    for site in sites:
        if "::" not in site.helper and site.path.startswith("dialects/"):
            by_helper[(site.path, site.helper)].append(site)
    for (name, helper), inside in sorted(by_helper.items()):
        text = without_comments((root / name).read_text())
        starts = functions(text)
        for m in re.finditer(r"\b%s\(\*this" % helper, text):
            function = next(f for o, f in reversed(starts) if o <= m.start())
            op = re.fullmatch(r"(\w+)Op::verify", function)
            if op:
                yield f"{name.split('/')[1]}.{snake(op[1])}", helper, inside


def unreachable(site):
    return any(site.path.endswith(path) and words in site.words()
               for path, words, _ in UNREACHABLE)


def main(root):
    paths = sorted({p for pattern in SOURCES for p in root.glob(pattern)})
    everything = [s for p in paths for s in sites_of(root, p)]
    sites = [s for s in everything if not unreachable(s)]
    checks = [c for p in sorted(root.glob("test/lit/**/*.mlir")) for c in lit_checks(p)]
    checks += [c for p in sorted(root.glob("test/unit/**/*.cpp")) for c in unit_checks(p)]
    found = [candidates(s, checks) for s in sites]
    problems = []
    options = [sorted({c for v in variants for c in v}) for variants in found]
    own = [i for i, s in enumerate(sites) if not s.continues]
    for s in (own[i] for i in assign([options[i] for i in own])):
        same = [t for t in sites if t.words() == sites[s].words()]
        problems.append((sites[s], "no check" if len(same) == 1 else
                         f"too few checks for {len(same)} places with this text"))
    for site, variants in zip(sites, found):
        for (_, word), each in zip(site.variants(), variants):
            if not each and (word is not None or site.continues and site.words()):
                problems.append((site, f"no check with '{word or site.words()}'"))
    at = {id(s): o for s, o in zip(sites, options)}
    for op, helper, inside in helper_calls(root, sites):
        if not any(op in checks[c].at for s in inside for c in at[id(s)]):
            problems.append((inside[0], f"no check of {helper} at {op}"))
    for path, words, _ in UNREACHABLE:
        if not any(s.path.endswith(path) and words in s.words() for s in everything):
            problems.append((Site(path, 0, [words]), "listed as unreachable, not found"))
    for site, why in problems:
        print(f"{site.path}:{site.line}: {why}: {site.words()}")
    print(f"{len(sites)} branches, {len(checks)} checks, {len(problems)} not expected")
    return 1 if problems or len(sites) < 200 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
