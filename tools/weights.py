"""Parameters of a model as tensors of a file, and what they are made of in Hugging Face's
GPT-2. Names, shapes and axes are those of imported IR; tools/docs writes the page, and
test/integration/test_weights.py makes a model with these very expressions.
"""

import re

# Of a layer {n}: name, the tensor of Hugging Face's file, and an expression of NumPy that
# makes ours of it, w: E hidden, H heads, D head_dim, V vocab, P padded_vocab, np NumPy.
HUGGING_FACE = [
    ("embed.tokens", "transformer.wte.weight", "np.pad(w, ((0, P - V), (0, 0)))"),
    ("embed.positions", "transformer.wpe.weight", "w"),
    ("layers.{n}.norm1.scale", "transformer.h.{n}.ln_1.weight", "w"),
    ("layers.{n}.norm1.bias", "transformer.h.{n}.ln_1.bias", "w"),
    ("layers.{n}.attn.qkv.weight", "transformer.h.{n}.attn.c_attn.weight",
     "w.reshape(E, 3, H, D).transpose(0, 2, 1, 3)"),
    ("layers.{n}.attn.qkv.bias", "transformer.h.{n}.attn.c_attn.bias",
     "w.reshape(3, H, D).transpose(1, 0, 2)"),
    ("layers.{n}.attn.q.weight", "transformer.h.{n}.attn.c_attn.weight",
     "w.reshape(E, 3, H, D)[:, 0]"),
    ("layers.{n}.attn.q.bias", "transformer.h.{n}.attn.c_attn.bias",
     "w.reshape(3, H, D)[0]"),
    ("layers.{n}.attn.k.weight", "transformer.h.{n}.attn.c_attn.weight",
     "w.reshape(E, 3, H, D)[:, 1]"),
    ("layers.{n}.attn.k.bias", "transformer.h.{n}.attn.c_attn.bias",
     "w.reshape(3, H, D)[1]"),
    ("layers.{n}.attn.v.weight", "transformer.h.{n}.attn.c_attn.weight",
     "w.reshape(E, 3, H, D)[:, 2]"),
    ("layers.{n}.attn.v.bias", "transformer.h.{n}.attn.c_attn.bias",
     "w.reshape(3, H, D)[2]"),
    ("layers.{n}.attn.out.weight", "transformer.h.{n}.attn.c_proj.weight",
     "w.reshape(H, D, E)"),
    ("layers.{n}.attn.out.bias", "transformer.h.{n}.attn.c_proj.bias", "w"),
    ("layers.{n}.norm2.scale", "transformer.h.{n}.ln_2.weight", "w"),
    ("layers.{n}.norm2.bias", "transformer.h.{n}.ln_2.bias", "w"),
    ("layers.{n}.mlp.up.weight", "transformer.h.{n}.mlp.c_fc.weight", "w"),
    ("layers.{n}.mlp.up.bias", "transformer.h.{n}.mlp.c_fc.bias", "w"),
    ("layers.{n}.mlp.down.weight", "transformer.h.{n}.mlp.c_proj.weight", "w"),
    ("layers.{n}.mlp.down.bias", "transformer.h.{n}.mlp.c_proj.bias", "w"),
    ("final_norm.scale", "transformer.ln_f.weight", "w"),
    ("final_norm.bias", "transformer.ln_f.bias", "w"),
    ("head.weight", "lm_head.weight", "np.pad(w, ((0, P - V), (0, 0))).transpose(1, 0)"),
]

PARAMETER = re.compile(r'tensor<([\dx]+)xf32> \{[^}]*?#tfm\.param<name = "([^"]+)", '
                       r'axes = \[([^\]]*)\]')

PAGE = """# Weights: the tensors of a file

`mtc run --save`, `--init-from` and `--dump init|params|grads` use safetensors files with one
tensor for each parameter, F32 whatever the dtype of the plan, of the whole model: no rank,
stage or bucket shows. `mtc run --init-from` wants all of them, in any order, and no other shape.
The metadata of a saved file has `step`, the step whose parameters it holds.

An activation is multiplied from the left: a weight is `[in, out]`, so the first axes are those
of the input. Heads are an axis of their own, and inside each head so are query, key and value
of a fused projection, in this order.

* **Norms** come before attention and MLP, and once more behind the last layer:
  (x - mean) / sqrt(variance + `eps`) · scale + bias, the variance being the mean of
  (x - mean)². An RMS norm is x / sqrt(mean of x² + `eps`) · scale.
* **Attention** is softmax(q·k / sqrt(`head_dim`))·v, each head for itself. With `kv_heads` less
  than `heads`, head i of the queries reads head i / (`heads` / `kv_heads`) of keys and values,
  rounded down; a fused projection has of each of these its queries, then the key and the value.
* **`gelu`** is 0.5·x·(1 + tanh(sqrt(2/pi)·(x + 0.044715·x³))), Hugging Face's `gelu_new`.
* **Tied** specs have no `head.weight`: logits are products with the rows of `embed.tokens`.
* **Padding**: `embed.tokens` has `padded_vocab` rows. Those from `vocab` on take no
  probability and may hold anything finite.

## GPT-2

`{spec}`; {{n}} is a layer, from 0.

{main}
## Other choices

{others}
## From Hugging Face's GPT-2

The state of `GPT2LMHeadModel` has these tensors; an expression of NumPy makes ours of one, `w`,
where E is `hidden`, H `heads`, D `head_dim`, V `vocab` and P `padded_vocab`. A `Conv1D` has its
weight as `[in, out]` already, so only the heads are sorted out; `lm_head.weight` is needed by
specs that are not tied.

{hugging_face}
Its `layer_norm_epsilon` is `norm.eps`, and `activation_function` must be `gelu_new`. Buffers
(`attn.bias`, `attn.masked_bias`) are no parameters. A ctest, `integration_weights`, makes models
with these expressions and compares their loss with GPT-2's formulas.
"""


def parameters(ir):
    """(name, shape, axes) of a module after `import`, in the model's order."""
    return [(name, [int(size) for size in sizes.split("x")],
             [axis.strip().strip('"') for axis in axes.split(",")])
            for sizes, name, axes in PARAMETER.findall(ir)]


def of_a_layer(name):
    return re.sub(r"^layers\.\d+\.", "layers.{n}.", name)


def distinct(rows):
    """One row for all layers."""
    seen = {}
    for name, shape, axes in rows:
        seen.setdefault(of_a_layer(name), (shape, axes))
    return seen


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def rows_of(parameters):
    for name, (shape, axes) in parameters.items():
        yield (f"`{name}`", "[" + ", ".join(map(str, shape)) + "]", ", ".join(axes))


def page(spec, modules):
    """`modules`: what a spec differs by (empty for `spec` itself) to its imported IR."""
    heads = ["tensor", "shape", "axes"]
    main, others = {}, ""
    for what, ir in modules.items():
        found = distinct(parameters(ir))
        if not what:
            main = found
            continue
        own = {name: row for name, row in found.items() if name not in main}
        missing = [f"`{name}`" for name in main if name not in found]
        others += f"{what}\n\n"
        if own:
            others += table(heads, rows_of(own)) + "\n"
        if missing:
            others += f"Not there: {', '.join(missing)}.\n\n"
    hugging_face = table(["tensor", "of", "made by"],
                         [(f"`{a}`", f"`{b}`", f"`{c}`") for a, b, c in HUGGING_FACE])
    return PAGE.format(spec=spec, main=table(heads, rows_of(main)), others=others.rstrip() + "\n",
                       hugging_face=hugging_face)
