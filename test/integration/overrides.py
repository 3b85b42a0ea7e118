"""Every override of a strategy that mtc takes, by what it splits.

An override gives the parameters that a pattern matches another rule than the rest: their
`ffn` stays whole while that of others is split, or the reverse. Which parameters have
which logical axes is read from the imported IR.
"""

import itertools
import re
from dataclasses import dataclass, field

PARAMETER = re.compile(r'#tfm\.param<name = "([^"]+)", axes = \[([^\]]*)\]')

# What the default rules split over tp. Query and key heads that a rule splits apart are
# rejected, so a rule names both.
SPLITS = (("ffn",), ("heads", "kv_heads"), ("vocab",))


@dataclass(frozen=True)
class Override:
    """The parameters that `pattern` matches have `axes` over `inside`, the others have
    them over `outside`: "tp" or "none"."""
    pattern: str
    axes: tuple
    inside: str
    outside: str
    splits: frozenset = field(compare=False)  # (parameter, axis) over tp

    @property
    def name(self):
        return f"{self.pattern}: {'+'.join(self.axes)} = {self.inside}, " \
               f"others {self.outside}"

    def strategy(self):
        """The text of a strategy file."""
        lines = ["[shard]"] + [f'{axis} = "{self.outside}"' for axis in self.axes]
        table = ", ".join(f'{axis} = "{self.inside}"' for axis in self.axes)
        return "\n".join([*lines, "[[override]]", f'pattern = "{self.pattern}"',
                          f"shard = {{ {table} }}", ""])


def parameters_of(ir):
    """Name to logical axes."""
    return {name: re.findall(r'"([^"]+)"', axes) for name, axes in PARAMETER.findall(ir)}


def patterns_of(names):
    """Each parameter in all layers and in the first, each group of them, and what has
    one ending."""
    found = set()
    for name in names:
        parts = name.split(".")
        if parts[0] != "layers":
            found |= {name, f"{parts[0]}.*"}
            continue
        for layer in ("*", "0"):
            for end in range(2, len(parts) + 1):
                rest = ".".join(parts[2:end])
                tail = rest if end == len(parts) else f"{rest}.*" if rest else "*"
                found.add(f"layers.{layer}.{tail}")
        found.add(f"*.{parts[-1]}")
    return sorted(found)


def matches(pattern, name):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def overrides(parameters):
    """One override for each set of split parameters that a pattern can make."""
    seen, found = set(), []
    for pattern, axes, (inside, outside) in itertools.product(
            patterns_of(parameters), SPLITS, (("none", "tp"), ("tp", "none"))):
        splits = frozenset(
            (name, axis) for name, own in parameters.items() for axis in own
            if axis in axes and (inside if matches(pattern, name) else outside) == "tp")
        others = {name for name, own in parameters.items()
                  if matches(pattern, name) and set(own) & set(axes)}
        if others and (axes, splits) not in seen:
            seen.add((axes, splits))
            found.append(Override(pattern, axes, inside, outside, splits))
    return found
