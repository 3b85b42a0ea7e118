#!/usr/bin/env python3
"""Golden of a training run in fp16 with dynamic loss scaling, by PyTorch.

GPT-2 of ../gpt2 (its seed 1, tied) with the policy of docs/numerics.md, emulated: arithmetic
is in float64, and what an op makes is rounded to torch.float16, forward and backward, where
the policy has 16 bits: parameters as computed with, activations, logits, and the gradients of
all these. Gradients of parameters and the update are not rounded. The scale follows the rule of
Megatron-LM, written again here (../loss_scale has Megatron-core's own). It begins so high that
the first steps overflow, and doubles so often that later ones do, too.

Writes expected.json. No step is near the border between overflow and none: `largest` is the
largest number that was rounded in a step, in units of what overflows (65520), and the script
fails where it is within a tenth of 1. Generated with torch 2.15.0, numpy 2.4.6:

    python3 generate.py
"""
import json
import math
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gpt2"))
import generate as gpt2  # noqa: E402

INITIAL, LEAST, WINDOW, HYSTERESIS = 2.0 ** 26, 1.0, 3, 2
OVERFLOWS = 65520.0


class Rounded(torch.autograd.Function):
    """To float16, and so is the gradient that comes back."""
    largest = 0.0

    @staticmethod
    def half(x):
        Rounded.largest = max(Rounded.largest, x.abs().nan_to_num(0, 0).max().item())
        return x.to(torch.float16).to(x.dtype)

    @staticmethod
    def forward(ctx, x):
        return Rounded.half(x)

    @staticmethod
    def backward(ctx, gradient):
        return Rounded.half(gradient)


def r(x):
    return Rounded.apply(x)


class Widened(torch.autograd.Function):
    """A parameter in float16; its gradient is made in full."""

    @staticmethod
    def forward(ctx, x):
        return x.to(torch.float16).to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def attention(x, p, layer):
    qkv = r(torch.einsum("bse,ehtd->bshtd", x, p[layer + "attn.qkv.weight"]))
    qkv = r(qkv + p[layer + "attn.qkv.bias"])
    q, k, v = (t.transpose(1, 2) for t in qkv.unbind(dim=3))
    scores = q @ k.transpose(-1, -2) / math.sqrt(gpt2.HEAD_DIM)
    length = x.shape[1]
    seen = torch.ones(length, length).tril().bool()
    probs = scores.masked_fill(~seen, -math.inf).softmax(dim=-1)
    out = r(probs @ v)
    out = r(torch.einsum("bhsd,hde->bse", out, p[layer + "attn.out.weight"]))
    return r(out + p[layer + "attn.out.bias"])


def mlp(x, p, layer):
    up = r(r(x @ p[layer + "mlp.up.weight"]) + p[layer + "mlp.up.bias"])
    hidden = r(torch.nn.functional.gelu(up, approximate="tanh"))
    return r(r(hidden @ p[layer + "mlp.down.weight"]) + p[layer + "mlp.down.bias"])


def logits_of(p, ids):
    x = r(p["embed.tokens"][ids] + p["embed.positions"][: ids.shape[1]])
    for n in range(gpt2.LAYERS):
        layer = f"layers.{n}."
        x = r(x + attention(r(gpt2.norm(x, p, layer + "norm1")), p, layer))
        x = r(x + mlp(r(gpt2.norm(x, p, layer + "norm2")), p, layer))
    x = r(gpt2.norm(x, p, "final_norm"))
    logits = r(x @ p["embed.tokens"].t())
    padding = torch.arange(gpt2.PADDED_VOCAB) >= gpt2.VOCAB
    return logits.masked_fill(padding, -math.inf)


def gradients(main, ids, labels, scale):
    p = {name: Widened.apply(value) for name, value in main.items()}
    loss = gpt2.token_losses(logits_of(p, ids), labels).mean()
    grads = torch.autograd.grad(loss * scale, list(main.values()))
    return loss.item(), {n: g / scale for n, g in zip(main, grads)}


class Scaler:
    def __init__(self):
        self.scale, self.good, self.free = INITIAL, 0, HYSTERESIS

    def update(self, finite):
        if not finite:
            self.good = 0
            self.free -= 1
            if self.free <= 0:
                self.scale = max(self.scale / 2, LEAST)
            return
        self.good += 1
        if self.good == WINDOW:
            self.good, self.free, self.scale = 0, HYSTERESIS, self.scale * 2


def train(dtype):
    params, tokens = gpt2.initial_parameters({"tied": True, "rms": False}, 1), \
        gpt2.token_stream(1)
    main, moments, scaler = gpt2.to_torch(params, dtype), {}, Scaler()
    log, updates = [], 0
    for step in range(1, gpt2.STEPS + 1):
        Rounded.largest, scale = 0.0, scaler.scale
        loss, grads = gradients(main, *gpt2.batch_of(tokens, step), scale)
        finite = all(g.isfinite().all() for g in grads.values())
        norm = None
        if finite:
            updates += 1
            norm = gpt2.adamw_step(main, grads, moments, updates)
        scaler.update(finite)
        log.append({"loss": loss, "grad_norm": norm, "loss_scale": scale,
                    "skipped_steps": step - updates,
                    "largest": Rounded.largest / OVERFLOWS})
    return log


def worst(first, second, key):
    return max(gpt2.relative([a[key] for a in first if a[key]],
                             [b[key] for b in second if b[key]]), 0)


def main():
    torch.set_num_threads(1)
    log, single = train(torch.float64), train(torch.float32)
    for line in log:
        assert not 0.9 < line["largest"] < 1.1, line
        print(line)
    assert [a["grad_norm"] is None for a in log] == [b["grad_norm"] is None for b in single]
    report = {"seed": 1, "steps": gpt2.STEPS, "initial_loss_scale": INITIAL,
              "min_loss_scale": LEAST, "loss_scale_window": WINDOW, "hysteresis": HYSTERESIS,
              "max_lr": gpt2.LR, "min_lr": gpt2.MIN_LR, "warmup": gpt2.WARMUP, "log": log,
              # Of the same emulation in float32: where it rounds otherwise now and then.
              "float32_relative_error": {key: worst(log, single, key)
                                         for key in ("loss", "grad_norm")}}
    with open(os.path.join(HERE, "expected.json"), "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    print(f"torch {torch.__version__}, {report['float32_relative_error']}")


if __name__ == "__main__":
    main()
