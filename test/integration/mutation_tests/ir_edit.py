"""Edits of saved IR, each of which must find exactly what it looks for."""

import re


class NotFound(Exception):
    """The IR has changed so that a fault can no longer be planted: the test is stale."""


def substitute(text, pattern, replacement, count=1):
    """Replaces all matches of a regular expression; there must be `count`."""
    text, found = re.subn(pattern, replacement, text, flags=re.MULTILINE)
    if found != count:
        raise NotFound(f"expected {count} of '{pattern}', found {found}")
    return text


def find(text, pattern):
    """The only match of a regular expression."""
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if len(found) != 1:
        raise NotFound(f"expected one '{pattern}', found {len(found)}")
    return found[0]


def section(text, head):
    """Splits before the line that matches `head` and after the block it opens,
    which ends with a brace at the same indentation: (before, block, after)."""
    start = find(text, rf"^( *){head}.*$")
    end = re.compile(rf"^{start.group(1)}\}}.*\n", re.MULTILINE).search(text, start.end())
    if not end:
        raise NotFound(f"expected an end of '{head}', found none")
    return text[:start.start()], text[start.start():end.end()], text[end.end():]


def within(text, head, edit):
    """Applies `edit` to one block only."""
    before, block, after = section(text, head)
    return before + edit(block) + after


def on_bytes(text, edit):
    """Applies `edit` to all but the tensor forms of programs, which stay as they are."""
    forms = []

    def put_away(found):
        forms.append(found.group())
        return f"<tensor form {len(forms) - 1}>\n"
    text = edit(re.sub(r"^    rt\.tensor_form \{\n(?:(?:      .*)?\n)*    \}\n", put_away, text,
                       flags=re.MULTILINE))
    return re.sub(r"<tensor form (\d+)>\n", lambda found: forms[int(found[1])], text)


def scale_operand(text, value, operand, factor):
    """The op that makes `value` reads `factor` times its operand of this number. The
    scale has the attributes of a backward op, so that only numbers can tell."""
    line = find(text, rf"^ *{re.escape(value)} = tfm\.\w+ .*$")
    operands, _, types = line.group().partition(" {")
    name = re.findall(r"%\w+", operands)[1 + operand]
    kind = re.search(r"\} : (.*) -> ", types).group(1).split(", ")[operand]
    layer = find(types, r"tfm\.layer = \d+ : i64").group()
    planted = f"%planted{value[1:]}"
    scaled = (f'    {planted} = tfm.scale {name} by {factor:e} '
              f'{{{layer}, tfm.phase = "backward"}} : {kind}\n')
    edited = substitute(line.group(), rf"(?<== )(.*){name}\b", rf"\1{planted}")
    return text[:line.start()] + scaled + edited + text[line.end():]


def gradient_value(text, parameter):
    """The SSA name of the gradient of a parameter in the return of @microbatch."""
    # One result more than gradients: the loss is first. In a signature the
    # gradients stand in the order of the return.
    signature = find(text, r"^  func\.func @microbatch.*$").group()
    names = re.findall(r'tfm\.grad = #tfm\.grad<param = "([^"]+)"', signature)
    values = find(text, r"^ *return (.*) : .*$").group(1).split(", ")
    if len(values) != len(names) + 1:
        raise NotFound(f"expected {len(names) + 1} results, found {len(values)}")
    return values[1 + names.index(parameter)]
