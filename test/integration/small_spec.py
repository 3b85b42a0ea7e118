"""The text of a spec of a small model: what tests vary, and the rest as in all of them."""

TEXT = """name = "{name}"
vocab = {vocab}
padded_vocab = {padded}
layers = {layers}
hidden = {hidden}
heads = {heads}
ffn = {ffn}
max_seq = {longest}
positions = "learned"
tied = {tied}
[norm]
kind = "{norm}"
placement = "pre"
eps = 1e-5
[mlp]
kind = "gelu"
bias = true
[attention]
qkv = "{qkv}"
bias = true
causal = true
[dropout]
embedding = {dropout}
attention = {dropout}
hidden = {dropout}
[init]
std = 0.02
scaled_output = true
"""


def small_spec(tied, **sizes):
    """All that TEXT names; `tied` is a truth value."""
    return TEXT.format(tied=str(tied).lower(), **sizes)
