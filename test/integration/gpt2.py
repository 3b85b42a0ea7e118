"""GPT-2 as Hugging Face has it, in lists of the standard library: the formulas and the names
of modeling_gpt2.py, written again. Nothing here knows the layouts of mtc."""

import random
from math import exp, log, pi, sqrt, tanh


class Config:
    vocab, layers, hidden, heads, ffn, positions, eps = 50, 2, 16, 4, 24, 8, 1e-5
    head_dim = hidden // heads


def shapes(c):
    """Names to shapes of the state of a GPT2LMHeadModel."""
    found = {"transformer.wte.weight": [c.vocab, c.hidden],
             "transformer.wpe.weight": [c.positions, c.hidden]}
    for n in range(c.layers):
        layer = f"transformer.h.{n}."
        found |= {layer + "ln_1.weight": [c.hidden], layer + "ln_1.bias": [c.hidden],
                  layer + "attn.c_attn.weight": [c.hidden, 3 * c.hidden],
                  layer + "attn.c_attn.bias": [3 * c.hidden],
                  layer + "attn.c_proj.weight": [c.hidden, c.hidden],
                  layer + "attn.c_proj.bias": [c.hidden],
                  layer + "ln_2.weight": [c.hidden], layer + "ln_2.bias": [c.hidden],
                  layer + "mlp.c_fc.weight": [c.hidden, c.ffn],
                  layer + "mlp.c_fc.bias": [c.ffn],
                  layer + "mlp.c_proj.weight": [c.ffn, c.hidden],
                  layer + "mlp.c_proj.bias": [c.hidden]}
    return found | {"transformer.ln_f.weight": [c.hidden], "transformer.ln_f.bias": [c.hidden],
                    "lm_head.weight": [c.vocab, c.hidden]}


def random_state(c, seed, tied):
    """Values large enough for every element to show in the loss: (shape, list) by name."""
    draw = random.Random(seed)
    state = {}
    for name, shape in shapes(c).items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        state[name] = (shape, [draw.gauss(0, 0.4) for _ in range(count)])
    if tied:
        state["lm_head.weight"] = state["transformer.wte.weight"]
    return state


def rows(tensor):
    (_, width), values = tensor
    return [values[i:i + width] for i in range(0, len(values), width)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def plus(a, b):
    return [x + y for x, y in zip(a, b)]


def conv1d(x, weight, bias):
    """x·W + b, W as [in, out]."""
    columns = list(zip(*rows(weight)))
    return [dot(x, column) + b for column, b in zip(columns, bias[1])]


def layer_norm(x, weight, bias, eps):
    mean = sum(x) / len(x)
    variance = sum((v - mean) ** 2 for v in x) / len(x)
    return [(v - mean) / sqrt(variance + eps) * w + b
            for v, w, b in zip(x, weight[1], bias[1])]


def gelu_new(x):
    return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))


def softmax(scores):
    top = max(scores)
    powers = [exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def attention(c, x, get):
    """c_attn makes query, key and value, one behind the other; each is cut into heads."""
    qkv = [conv1d(v, get("attn.c_attn.weight"), get("attn.c_attn.bias")) for v in x]
    q, k, v = ([row[i * c.hidden:(i + 1) * c.hidden] for row in qkv] for i in range(3))
    out = []
    for t in range(len(x)):
        merged = []
        for h in range(c.heads):
            part = slice(h * c.head_dim, (h + 1) * c.head_dim)
            scores = [dot(q[t][part], k[s][part]) / sqrt(c.head_dim) for s in range(t + 1)]
            weights = softmax(scores)
            merged += [dot(weights, [v[s][part][d] for s in range(t + 1)])
                       for d in range(c.head_dim)]
        out.append(conv1d(merged, get("attn.c_proj.weight"), get("attn.c_proj.bias")))
    return out


def mlp(x, get):
    up = [gelu_new(v) for v in conv1d(x, get("mlp.c_fc.weight"), get("mlp.c_fc.bias"))]
    return conv1d(up, get("mlp.c_proj.weight"), get("mlp.c_proj.bias"))


def loss(c, state, ids, labels):
    """Mean cross entropy of one sample."""
    tokens, positions = rows(state["transformer.wte.weight"]), rows(state["transformer.wpe.weight"])
    x = [plus(tokens[token], positions[t]) for t, token in enumerate(ids)]
    for n in range(c.layers):
        def get(name, layer=f"transformer.h.{n}."):
            return state[layer + name]
        normed = [layer_norm(v, get("ln_1.weight"), get("ln_1.bias"), c.eps) for v in x]
        x = [plus(a, b) for a, b in zip(x, attention(c, normed, get))]
        x = [plus(v, mlp(layer_norm(v, get("ln_2.weight"), get("ln_2.bias"), c.eps), get))
             for v in x]
    total = 0.0
    for v, label in zip(x, labels):
        v = layer_norm(v, state["transformer.ln_f.weight"], state["transformer.ln_f.bias"], c.eps)
        logits = [dot(v, row) for row in rows(state["lm_head.weight"])]
        total -= log(softmax(logits)[label])
    return total / len(labels)
