"""Every override of a strategy that is possible in mathematics.

An override gives the parameters that a pattern matches a rule of their own: split over tp,
or over the replicas of the data, along one of their dimensions, or whole. Which parameters have which logical axes is read
from the imported IR. Each one alone, in all layers and in the first; all parameters of one
table; and tables of many, drawn at random.
"""

import random
import re
from dataclasses import dataclass, field, replace

PARAMETER = re.compile(r'#tfm\.param<name = "([^"]+)", axes = \[([^\]]*)\]')

# The general rules that overrides are drawn on: those of a strategy that says nothing,
# and one in which all is whole.
WHOLE = ("ffn", "heads", "kv_heads", "vocab")
# Over dp these have samples of their own.
STREAM = ("embed", "seq", "vocab")
# So many tables of many rules for each spec.
DRAWN = 150


@dataclass(frozen=True)
class Override:
    """`rules`: (pattern, axis) where the axis is over `over`, or "" for a whole parameter;
    `isWhole`: what no rule names is whole. `axes`: of each pattern, all there are."""
    rules: tuple
    isWhole: bool = False
    gathers: tuple = ()
    over: str = "tp"
    axes: tuple = field(compare=False, default=())

    @property
    def name(self):
        said = [f"{pattern}={axis or 'whole'}" for pattern, axis in self.rules]
        said += [f"{pattern} gathered" for pattern in self.gathers]
        said += [f"over {self.over}"] * (self.over != "tp")
        return " ".join(said) + (", others whole" if self.isWhole else "")

    def strategy(self):
        """The text of a strategy file."""
        lines = ["[shard]"] + [f'{axis} = "none"' for axis in WHOLE] * self.isWhole
        for (pattern, axis), axes in zip(self.rules, self.axes):
            table = {axis: self.over} if axis else {each: "none" for each in axes}
            text = ", ".join(f'{key} = "{mesh}"' for key, mesh in table.items())
            lines += ["[[override]]", f'pattern = "{pattern}"', f"shard = {{ {text} }}"]
        for pattern in self.gathers:
            lines += ["[[override]]", f'pattern = "{pattern}"', "gather_output = true"]
        return "\n".join([*lines, ""])


def parameters_of(ir):
    """Name to logical axes."""
    return {name: re.findall(r'"([^"]+)"', axes) for name, axes in PARAMETER.findall(ir)}


def classes_of(parameters):
    """The parameters of all layers as one pattern each, with their axes."""
    return {re.sub(r"^layers\.\d+\.", "layers.*.", name): tuple(axes)
            for name, axes in parameters.items()}


def alone(classes):
    """Each parameter by itself, along each of its dimensions and whole."""
    for pattern, axes in classes.items():
        for axis in (*axes, ""):
            for isWhole in (False, True):
                yield Override(((pattern, axis),), isWhole, axes=(axes,))
        if pattern.startswith("layers.*."):
            first = pattern.replace("*", "0", 1)
            yield Override(((first, axes[0]),), axes=(axes,))


def drawn(classes, rng):
    """A rule for some of the parameters, and sometimes whole outputs."""
    rules = [(pattern, rng.choice((*axes, ""))) for pattern, axes in classes.items()
             if rng.random() < 0.5]
    gathers = [pattern for pattern in classes
               if pattern.endswith("weight") and rng.random() < 0.1]
    return Override(tuple(rules), rng.random() < 0.3, tuple(gathers),
                    tuple(classes[pattern] for pattern, _ in rules))


def overrides(parameters, seed):
    classes = classes_of(parameters)
    rng = random.Random(seed)
    found = [*alone(classes), *(drawn(classes, rng) for _ in range(DRAWN))]
    return list(dict.fromkeys(found))


def over_replicas(parameters, seed):
    """The same over dp, of dimensions that are not of the residual stream or of the loss."""
    classes = {pattern: tuple(axis for axis in axes if axis not in STREAM)
               for pattern, axes in classes_of(parameters).items()}
    classes = {pattern: axes for pattern, axes in classes.items() if axes}
    rng = random.Random(seed)
    found = [*alone(classes), *(drawn(classes, rng) for _ in range(DRAWN // 2))]
    return list(dict.fromkeys(replace(each, over="dp") for each in found))
