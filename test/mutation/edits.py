"""What an edit that changes bits means, by where it is and what it edits."""

import re

# From here on the IR has what is computed twice, as tensors and as bytes.
PLANNED = ("plan-memory",)

# Ops that say what is computed, by prefix. What is left are ops that say where, when, on
# which ranks and in which bytes: a plan that says one of these wrongly is a wrong plan.
COMPUTE = ("tfm.", "arith.", "math.", "rt.kernel", "rt.load", "rt.store", "rt.accumulate",
           "rt.gather", "rt.scatter_add", "rt.row_reduce", "rt.index", "rt.arg", "rt.random", "rt.logistic",
           "rt.launch", "rt.gemm", "rt.attention", "rt.step_field",
           "pipe.export")
# A number that is the same on all ranks is that of a layer, of whose mask a word is; others
# are addresses, which sizes and mesh say.
LAYER = re.compile(r" <\d+> : i64")

# Rules that put another value in the place of one: which value an op reads is what is
# computed, whatever the op.
OF_VALUES = ("swap_operands", "other_operand", "constant")
# Ops whose name, or number, says which value they are (pipe.send says where one goes).
NAMED_VALUES = ("pipe.param", "pipe.input", "pipe.saved", "pipe.received")

BY_NAME = ("name", "word", "number", "trade")
# Likewise of which weight a product reads what is packed; which weight is packed there, its
# record says.
PACKED = re.compile(r"rt\.ref packed of ")
# Ops that say under which number a value is saved, or to which sum it is added: two of them
# that change places are two values that do. (Two of one number, or of one sum, are found.)
NAMED_PLACES = re.compile(r"pipe\.save as |pipe\.accumulate (to|use) |rt\.ref (for|use) ")

# What nobody notices yet, as docs/contracts.md says: phases, ops by prefix, and why.
# An entry goes when its check is built.
KNOWN = ()


# Where the one record of a parameter stands; before cut-stages it is on an argument.
RECORDS = ("pipe.parameter", "func.func")
# Of it: its name and initial values, and whether it decays; and which window of the tokens
# an argument is, as pipe.input says behind cut-stages.
ARGUMENT_FACTS = re.compile(r"^(std|decay|name|ones|zeros|normal|true|false|ids|labels|document_starts"
                            r"|loss_weights|gradient_weights)\b")
# Two parameters that exchange their windows of logical tensors are each the other one, as if they
# exchanged their names. (A window of one alone leaves a gap, which is found.)
WINDOW = re.compile(r"^(first|of)\b")


def computes(phase, rule, site):
    """True if an edit of this kind edits what is computed: it makes another program,
    and no plan of it is wrong."""
    if site.op.name in RECORDS:
        # Their only constant is the deviation of initial values; of arguments that change
        # places the body reads another one.
        return (rule in ("constant", "swap_operands")
                or bool(ARGUMENT_FACTS.match(site.what))
                or rule == "trade" and bool(WINDOW.match(site.what)))
    if phase in PLANNED:
        return False
    name = site.op.name
    return (name.startswith(COMPUTE) or rule in OF_VALUES
            or name == "rt.affine" and LAYER.match(site.op.rest)
            or rule in BY_NAME and name in NAMED_VALUES
            or rule in BY_NAME and PACKED.match(f"{name} {site.op.rest.strip()}")
            or rule == "trade" and NAMED_PLACES.match(f"{name} {site.what}"))


def exports(site):
    """True if the edit is of what the program exports: a run says what it misses."""
    return site.op.name in ("tfm.export", "pipe.export")


def known(phase, site):
    """Why an edit of this kind goes unnoticed, or None."""
    for phases, ops, reason in KNOWN:
        if phase in phases and site.op.name.startswith(ops):
            return reason
    return None
