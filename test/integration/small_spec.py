"""The text of a spec of a small model: what tests vary, and the rest as in all of them."""

TEXT = """name = "{name}"
vocab = {vocab}
padded_vocab = {padded}
layers = {layers}
hidden = {hidden}
heads = {heads}
kv_heads = {kv_heads}
head_dim = {head_dim}
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
embedding = {rates[embedding]}
attention = {rates[attention]}
hidden = {rates[hidden]}
[init]
std = 0.02
scaled_output = true
"""


def small_spec(tied, dropout, **sizes):
    """All that TEXT names; `tied` is a truth value, `dropout` one rate or a table of three;
    `kv_heads` are as many as heads, and `head_dim` shares `hidden`, if they are not
    given."""
    sizes.setdefault("kv_heads", sizes["heads"])
    sizes.setdefault("head_dim", sizes["hidden"] // sizes["heads"])
    rates = dropout if isinstance(dropout, dict) else dict.fromkeys(
        ("embedding", "attention", "hidden"), dropout)
    return TEXT.format(tied=str(tied).lower(), rates=rates, **sizes)
