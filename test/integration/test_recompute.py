"""What a layer saves for its backward under each policy of `recompute`, in bytes.

A plan of a model is compiled with two and with three layers, in bf16: the third layer's
part of what a rank saves per microbatch must be the closed forms of FORMS, to the byte.
docs/recompute.md has the same table; the forms of Korthikanti et al., "Reducing
Activation Recomputation in Large Transformer Models" (arXiv 2205.05198), which differ for
the reasons given there, are PUBLISHED, and must not be smaller.

usage: test_recompute.py BIN_DIR SOURCE
"""

import os
import re
import sys
import tempfile
from math import prod

from run_layout import Mtc, Report

S, B, H, A = 128, 2, 256, 8  # tokens, samples of a microbatch, hidden, heads
SIZES = {"bf16": 2, "f32": 4, "i32": 4}
UNIT = S * B * H  # an activation of a byte per element


def norms(t, sp):
    """Mean and reciprocal of the deviation of two norms, in f32."""
    return 16 * S * B / (t if sp else 1)


def statistics(t):
    """The log-sum-exp of each head and row, in f32."""
    return 4 * A * S * B / t


def replicated(n, t, sp):
    """`n` bytes of what sequence parallelism splits."""
    return n / t if sp else n


# Of t ranks, with sequence parallelism or without: bytes.
FORMS = {
    "none": lambda t, sp: UNIT * (replicated(8, t, sp) + 24 / t) + norms(t, sp)
                          + statistics(t),
    "selective": lambda t, sp: UNIT * (replicated(8, t, sp) + 22 / t) + norms(t, sp),
    "full": lambda t, sp: UNIT * replicated(2, t, sp),
    "ops=norm": lambda t, sp: UNIT * (replicated(4, t, sp) + 24 / t) + statistics(t),
    "ops=norm,pointwise": lambda t, sp: UNIT * (replicated(4, t, sp) + 16 / t)
                                        + statistics(t),
}

# Two forms of a forward, one of which saves all and one the input: of both together.
FORMS["microbatches=1"] = lambda t, sp: FORMS["none"](t, sp) + FORMS["full"](t, sp)

# 5as/h is what attention without a fused kernel saves of s x s matrices.
SQUARES = 5 * A * S / H
PUBLISHED = {
    "none": lambda t, sp: UNIT * (replicated(10, t, sp) + 24 / t + SQUARES / t),
    "selective": lambda t, sp: UNIT * (replicated(10, t, sp) + 24 / t),
    "full": lambda t, sp: UNIT * 2,
}

SPEC = f"""name = "layers"
vocab = 256
layers = LAYERS
hidden = {H}
heads = {A}
ffn = {4 * H}
max_seq = {S}
positions = "learned"
tied = true
norm = {{ kind = "layer_norm", placement = "pre", eps = 1e-5 }}
mlp = {{ kind = "gelu", bias = true }}
attention = {{ qkv = "fused", bias = true, causal = true }}
dropout = {{ embedding = 0.1, attention = 0.1, hidden = 0.1 }}
init = {{ std = 0.02, scaled_output = true }}
"""


def saved_bytes(ir):
    """What the forward of the one stage keeps for its backward."""
    shapes = re.findall(r"pipe\.save .* : tensor<((?:\d+x)*)(\w+)>", ir)
    return sum(prod(int(n) for n in dims.split("x") if n) * SIZES[element]
               for dims, element in shapes)


def per_layer(mtc, folder, options):
    def compiled(layers):
        spec = os.path.join(folder, "spec.toml")
        with open(spec, "w") as file:
            file.write(SPEC.replace("LAYERS", str(layers)))
        return mtc.call("compile", spec, "--mbs", B, "--gbs", B, "--dtype", "bf16",
                        "--compile-to=cut-stages", *options).stdout
    return saved_bytes(compiled(3)) - saved_bytes(compiled(2))


def row(policy):
    """Its row of the table in docs/recompute.md, for t = 1 and t = 4."""
    halves = policy == "microbatches=1"  # of two slots, one of each form
    cells = [f"{FORMS[policy](t, sp) / UNIT / (2 if halves else 1):.2f}"
             for t, sp in ((1, False), (4, False), (4, True))]
    return f"| `{policy}`{', W = 2' if halves else ''} | " + " | ".join(cells) + " |"


def distributed(mtc, folder, report):
    """Ranks along tp save a part each of a layer's input."""
    for t in (1, 2, 4):
        found = per_layer(mtc, folder, ["--tp", t, "--recompute", "full",
                                        "--distribute-saved-activations"])
        wanted = UNIT * 2 / t
        print(f"full, distributed    tp {t}    {found:9} bytes a layer", flush=True)
        report.expect(found == wanted, f"full, distributed, tp {t}: expected {wanted} bytes "
                      f"a layer, found {found}")


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for policy, form in FORMS.items():
            for t, sp in ((1, False), (2, False), (4, False), (4, True)):
                options = ["--tp", t, "--recompute", policy, *(["--sp"] if sp else [])]
                found, wanted = per_layer(mtc, folder, options), form(t, sp)
                print(f"{policy:20} tp {t} {'sp' if sp else '  '} {found:9} bytes a "
                      f"layer, {found / UNIT:.2f} sbh", flush=True)
                report.expect(found == wanted, f"{policy}, tp {t}, sp {sp}: expected "
                              f"{wanted} bytes a layer, found {found}")
                published = PUBLISHED.get(policy)
                report.expect(published is None or found <= published(t, sp),
                              f"{policy}, tp {t}, sp {sp}: {found} bytes a layer are more "
                              f"than the published form's")
        distributed(mtc, folder, report)
    with open(os.path.join(sys.argv[2], "docs", "recompute.md")) as file:
        page = file.read()
    for policy in FORMS:
        report.expect(row(policy) in page, f"docs/recompute.md lacks {row(policy)}")
    return report.finish("bytes that layers save")


if __name__ == "__main__":
    sys.exit(main())
