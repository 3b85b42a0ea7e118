#!/usr/bin/env python3
"""Golden data of GPT-2 at the shape `gpt2-nano`, by PyTorch in float64.

An independent oracle: nothing here shares code with the compiler or the
runtime. It writes, for each of MODELS and its seeds, the files that README.md
describes; names of models choose some of them. `--check` recomputes the training run with
torch.optim.AdamW and clip_grad_norm_, the gradients by finite differences, and
compares; it writes nothing.
"""
import argparse
import json
import math
import os
import struct

import numpy as np
import torch
import torch.nn.functional as F

LAYERS, HIDDEN, HEADS, FFN, SEQ = 4, 64, 4, 256, 32
HEAD_DIM = HIDDEN // HEADS
VOCAB, PADDED_VOCAB = 250, 256
NORM_EPS = 1e-5

STEPS, WARMUP, GLOBAL_BATCH = 20, 5, 16
LR, MIN_LR = 3e-3, 3e-4
BETA1, BETA2, ADAM_EPS, WEIGHT_DECAY = 0.9, 0.95, 1e-8, 0.1
CLIP = 1.0
SPARE_WINDOWS = 16  # after those that training reads

# name -> (the spec in models/specs, its choices, seeds).
MODELS = {
    "tied": ("gpt2-nano-nodrop", {"tied": True, "rms": False}, (1, 2)),
    "untied": ("gpt2-nano-untied-nodrop", {"tied": False, "rms": False}, (1, 2)),
    "rms": ("gpt2-nano-rms-nodrop", {"tied": True, "rms": True}, (1,)),
}

# All samples, few positions: the per-token losses cover every position.
LOGITS_POSITIONS = [0, 9, 20, 31]


# --- The model --------------------------------------------------------------


def norm_shapes(name, rms):
    """An RMS norm has a scale only."""
    shapes = {name + ".scale": (HIDDEN,)}
    if not rms:
        shapes[name + ".bias"] = (HIDDEN,)
    return shapes


def parameter_shapes(tied, rms):
    """Ordered name -> shape. Weights are [in, out]."""
    shapes = {
        "embed.tokens": (PADDED_VOCAB, HIDDEN),
        "embed.positions": (SEQ, HIDDEN),
    }
    for n in range(LAYERS):
        layer = f"layers.{n}."
        shapes |= norm_shapes(layer + "norm1", rms)
        # Axes: embed, kv_heads, (q, k, v), head_dim.
        shapes[layer + "attn.qkv.weight"] = (HIDDEN, HEADS, 3, HEAD_DIM)
        shapes[layer + "attn.qkv.bias"] = (HEADS, 3, HEAD_DIM)
        shapes[layer + "attn.out.weight"] = (HEADS, HEAD_DIM, HIDDEN)
        shapes[layer + "attn.out.bias"] = (HIDDEN,)
        shapes |= norm_shapes(layer + "norm2", rms)
        shapes[layer + "mlp.up.weight"] = (HIDDEN, FFN)
        shapes[layer + "mlp.up.bias"] = (FFN,)
        shapes[layer + "mlp.down.weight"] = (FFN, HIDDEN)
        shapes[layer + "mlp.down.bias"] = (HIDDEN,)
    shapes |= norm_shapes("final_norm", rms)
    if not tied:
        shapes["head.weight"] = (HIDDEN, PADDED_VOCAB)
    return shapes


def initial_parameters(choices, seed):
    """float32 values, none of them trivial: a lost bias or scale must show.

    RandomState's stream is frozen by numpy, so every version gives these bytes.
    """
    rng = np.random.RandomState(seed)
    params = {}
    for name, shape in parameter_shapes(**choices).items():
        values = 0.1 * rng.standard_normal(shape)
        if name.endswith("scale"):
            values += 1.0
        params[name] = values.astype(np.float32)
    return params


def norm(x, p, name):
    """What has no bias is an RMS norm (arXiv:1910.07467, equation 4)."""
    scale = p[name + ".scale"]
    if name + ".bias" in p:
        return F.layer_norm(x, (HIDDEN,), scale, p[name + ".bias"], eps=NORM_EPS)
    root = torch.sqrt(x.square().mean(dim=-1, keepdim=True) + NORM_EPS)
    return x / root * scale


def attention(x, p, layer):
    qkv = torch.einsum("bse,ehtd->bshtd", x, p[layer + "attn.qkv.weight"])
    qkv = qkv + p[layer + "attn.qkv.bias"]
    q, k, v = (t.transpose(1, 2) for t in qkv.unbind(dim=3))  # [b, h, s, d]
    scores = q @ k.transpose(-1, -2) / math.sqrt(HEAD_DIM)
    length = x.shape[1]
    seen = torch.ones(length, length).tril().bool()
    probs = scores.masked_fill(~seen, -math.inf).softmax(dim=-1)
    out = torch.einsum("bhsd,hde->bse", probs @ v, p[layer + "attn.out.weight"])
    return out + p[layer + "attn.out.bias"]


def mlp(x, p, layer):
    up = x @ p[layer + "mlp.up.weight"] + p[layer + "mlp.up.bias"]
    hidden = F.gelu(up, approximate="tanh")
    return hidden @ p[layer + "mlp.down.weight"] + p[layer + "mlp.down.bias"]


def logits_of(p, ids):
    """[b, s] tokens -> [b, s, PADDED_VOCAB]; padding takes no probability."""
    x = p["embed.tokens"][ids] + p["embed.positions"][: ids.shape[1]]
    for n in range(LAYERS):
        layer = f"layers.{n}."
        x = x + attention(norm(x, p, layer + "norm1"), p, layer)
        x = x + mlp(norm(x, p, layer + "norm2"), p, layer)
    x = norm(x, p, "final_norm")
    head = p["head.weight"] if "head.weight" in p else p["embed.tokens"].t()
    padding = torch.arange(PADDED_VOCAB) >= VOCAB
    return (x @ head).masked_fill(padding, -math.inf)


def token_losses(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(),
                           reduction="none").view(labels.shape)


# --- Data and schedule ------------------------------------------------------


def token_stream(seed):
    """Tokens < VOCAB with something to learn: mostly an affine successor."""
    rng = np.random.RandomState(1000 + seed)
    count = (STEPS * GLOBAL_BATCH + SPARE_WINDOWS) * SEQ + 1
    tokens = np.empty(count, dtype=np.uint8)
    tokens[0] = rng.randint(VOCAB)
    for i in range(1, count):
        follow = rng.random_sample() < 0.8
        tokens[i] = (7 * int(tokens[i - 1]) + 3) % VOCAB if follow \
            else rng.randint(VOCAB)
    return tokens


def batch_of(tokens, step):
    """Samples of step 1, 2, ...: sample k reads window k, labels one later."""
    first = (step - 1) * GLOBAL_BATCH
    windows = [tokens[k * SEQ: k * SEQ + SEQ + 1]
               for k in range(first, first + GLOBAL_BATCH)]
    both = torch.tensor(np.stack(windows).astype(np.int64))
    return both[:, :-1], both[:, 1:]


def learning_rate(step):
    if step <= WARMUP:
        return LR * step / WARMUP
    done = (step - WARMUP) / (STEPS - WARMUP)
    return MIN_LR + 0.5 * (LR - MIN_LR) * (1.0 + math.cos(math.pi * done))


def decays(name, shape):
    """Biases and norms, whose logical rank is 1, are not decayed. The bias of
    qkv is stored with three dimensions; its name says what it is."""
    return len(shape) >= 2 and not name.endswith(".bias")


# --- Training ---------------------------------------------------------------


def to_torch(params, dtype):
    return {n: torch.tensor(v, dtype=dtype, requires_grad=True)
            for n, v in params.items()}


def gradients(p, ids, labels):
    loss = token_losses(logits_of(p, ids), labels).mean()
    grads = torch.autograd.grad(loss, list(p.values()))
    return loss.item(), dict(zip(p, grads))


def adamw_step(p, grads, moments, step):
    """The update of docs/numerics.md, in the type of the parameters."""
    norm = math.sqrt(sum(g.double().square().sum().item()
                         for g in grads.values()))
    coeff = min(1.0, CLIP / (norm + 1e-6))
    lr = learning_rate(step)
    bias1, bias2 = 1.0 - BETA1 ** step, 1.0 - BETA2 ** step
    with torch.no_grad():
        for name, value in p.items():
            g = grads[name] * coeff
            m, v = moments.setdefault(
                name, (torch.zeros_like(value), torch.zeros_like(value)))
            m.mul_(BETA1).add_(g * (1.0 - BETA1))
            v.mul_(BETA2).add_(g * g * (1.0 - BETA2))
            if decays(name, value.shape):
                value.mul_(1.0 - lr * WEIGHT_DECAY)
            value.sub_(lr * (m / bias1) / ((v / bias2).sqrt() + ADAM_EPS))
    return norm


def train(params, tokens, dtype):
    p, moments, losses, norms = to_torch(params, dtype), {}, [], []
    for step in range(1, STEPS + 1):
        loss, grads = gradients(p, *batch_of(tokens, step))
        losses.append(loss)
        norms.append(adamw_step(p, grads, moments, step))
    return losses, norms, p


def without_key_bias(name, value):
    """The loss does not depend on the key bias: its gradient is rounding noise
    and AdamW turns noise into steps, so it is no part of any comparison."""
    return value[:, [0, 2]] if name.endswith("attn.qkv.bias") else value


# --- Files ------------------------------------------------------------------


def write_safetensors(path, tensors, metadata):
    """Wider types first, then by name; the header is padded to 8 bytes."""
    names = {"float64": "F64", "int64": "I64", "float32": "F32"}
    order = sorted(tensors, key=lambda n: (-tensors[n].dtype.itemsize, n))
    header, at = {"__metadata__": metadata}, 0
    for name in order:
        t = tensors[name]
        header[name] = {"dtype": names[t.dtype.name], "shape": list(t.shape),
                        "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(np.ascontiguousarray(tensors[name]).tobytes())


def relative(a, b):
    return max(abs(x - y) / abs(y) for x, y in zip(a, b))


def write_model(root, name, seed):
    folder = os.path.join(root, f"{name}-{seed}")
    os.makedirs(folder, exist_ok=True)
    spec, choices, _ = MODELS[name]
    params, tokens = initial_parameters(choices, seed), token_stream(seed)
    write_safetensors(os.path.join(folder, "weights.safetensors"), params, {})
    tokens.tofile(os.path.join(folder, "data.bin"))

    ids, labels = batch_of(tokens, 1)
    p = to_torch(params, torch.float64)
    _, grads = gradients(p, ids, labels)
    with torch.no_grad():
        logits = logits_of(p, ids)
        per_token = token_losses(logits, labels)
    expected = {"grad." + n: g.numpy().astype(np.float32)
                for n, g in grads.items()}
    expected["logits"] = \
        logits[:, LOGITS_POSITIONS, :VOCAB].numpy().astype(np.float32)
    expected["logits_positions"] = np.array(LOGITS_POSITIONS, dtype=np.int64)
    expected["loss"] = per_token.mean().numpy()
    expected["token_losses"] = per_token.numpy()
    write_safetensors(os.path.join(folder, "expected.safetensors"), expected, {})

    losses, norms, final = train(params, tokens, torch.float64)
    losses32, norms32, _ = train(params, tokens, torch.float32)
    report = {
        "model": spec,
        "seed": seed, "steps": STEPS, "global_batch": GLOBAL_BATCH, "seq": SEQ,
        "vocab": VOCAB, "order": "sequential", "max_lr": LR, "min_lr": MIN_LR,
        "warmup": WARMUP, "beta1": BETA1, "beta2": BETA2, "eps": ADAM_EPS,
        "weight_decay": WEIGHT_DECAY, "clip": CLIP,
        "lr": [learning_rate(s) for s in range(1, STEPS + 1)],
        "losses": losses, "grad_norms": norms,
        "decay": {n: decays(n, v.shape) for n, v in params.items()},
        "final_l2": {n: without_key_bias(n, v.detach()).norm().item()
                     for n, v in final.items()},
        "change_l2": {n: without_key_bias(
            n, v.detach() - torch.tensor(params[n], dtype=torch.float64))
            .norm().item() for n, v in final.items()},
        # What PyTorch's own float32 run is off by: the scale of a tolerance.
        "float32_relative_error": {"losses": relative(losses32, losses),
                                   "grad_norms": relative(norms32, norms)},
    }
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    print(f"{folder}: loss {losses[0]:.6f} -> {losses[-1]:.6f}, norm "
          f"{norms[0]:.4f} .. {norms[-1]:.4f}, float32 "
          f"{report['float32_relative_error']}")


# --- Checks of the oracle itself --------------------------------------------


def check_against_torch_optim(params, tokens):
    p = to_torch(params, torch.float64)
    groups = [{"params": [v for n, v in p.items()
                          if decays(n, v.shape) == on], "weight_decay": wd}
              for on, wd in ((True, WEIGHT_DECAY), (False, 0.0))]
    optimizer = torch.optim.AdamW(groups, betas=(BETA1, BETA2), eps=ADAM_EPS)
    losses = []
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        ids, labels = batch_of(tokens, step)
        loss = F.cross_entropy(logits_of(p, ids).flatten(0, 1),
                               labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(p.values(), CLIP)
        optimizer.step()
        losses.append(loss.item())
    return relative(train(params, tokens, torch.float64)[0], losses)


def check_finite_differences(params, tokens, h=1e-5):
    """Largest relative error of directional derivatives, one per parameter."""
    ids, labels = batch_of(tokens, 1)
    _, grads = gradients(to_torch(params, torch.float64), ids, labels)
    rng, worst = np.random.RandomState(7), 0.0
    for name, value in params.items():
        direction = rng.standard_normal(value.shape)
        def loss_at(shift):
            moved = dict(params)
            moved[name] = value.astype(np.float64) + shift * direction
            with torch.no_grad():
                return token_losses(logits_of(
                    to_torch(moved, torch.float64), ids), labels).mean().item()
        numeric = (loss_at(h) - loss_at(-h)) / (2 * h)
        exact = (grads[name].numpy() * direction).sum()
        worst = max(worst, abs(numeric - exact) / max(abs(exact), 1e-3))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help=f"of {', '.join(MODELS)}; all, if none is given")
    parser.add_argument("--out", default=os.path.dirname(
        os.path.abspath(__file__)))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, numpy {np.__version__}")
    for name in args.models or MODELS:
        _, choices, seeds = MODELS[name]
        for seed in seeds:
            if not args.check:
                write_model(args.out, name, seed)
                continue
            params, tokens = initial_parameters(choices, seed), token_stream(seed)
            optim = check_against_torch_optim(params, tokens)
            diff = check_finite_differences(params, tokens)
            print(f"{name}-{seed}: torch.optim {optim:.1e}, "
                  f"finite differences {diff:.1e}")
            # float64 rounding through 20 steps; h^2 truncation of a
            # central difference.
            assert optim < 1e-10 and diff < 1e-5


if __name__ == "__main__":
    main()
