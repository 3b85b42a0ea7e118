"""Which edits make another program: what is computed is what the IR says, so an edit of
that is no fault of the plan, and nobody could notice."""

# From here on the IR has what is computed twice, as tensors and as bytes.
PLANNED = ("plan-memory",)

# Ops that say what is computed, by prefix. What is left are ops that say where, when, on
# which ranks and in which bytes: a plan that says one of these wrongly is a wrong plan.
COMPUTE = ("tfm.", "arith.", "math.", "rt.kernel", "rt.load", "rt.store", "rt.accumulate",
           "rt.gather", "rt.scatter_add", "rt.row_reduce", "rt.index", "rt.arg", "rt.random",
           "rt.launch", "rt.gemm", "rt.attention", "rt.affine", "rt.step_field")


def computes(phase, rule, site):
    """True if an edit of this kind may change what is computed."""
    if phase in PLANNED:
        return False
    return site.op.name.startswith(COMPUTE)
