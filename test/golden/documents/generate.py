#!/usr/bin/env python3
"""Goldens of trainings on documents, by PyTorch in float64: 20 losses and norms each.

GPT-2 of ../gpt2 (its seed 1, tied) on tokens in which EOD ends documents of one to 70 tokens.
Masks and positions are made as Megatron-LM defines them (--eod-mask-loss,
--reset-position-ids, --reset-attention-mask): the loss of a token EOD does not count, and
behind one positions begin again and attention sees nothing of what was before. Gradients are
those of the mean over microbatches of MICRO samples of each one's mean, Megatron-LM's default,
or with `per_token` of the mean over all tokens that count (--calculate-per-token-loss). The
loss is that mean over tokens in both.

Writes data.bin and expected.json. Generated with torch 2.15.0, numpy 2.4.6:

    python3 generate.py
"""
import json
import math
import os
import sys

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gpt2"))
import generate as gpt2  # noqa: E402

EOD, MICRO = 249, 2
VARIANTS = {
    "masked": {"mask_loss": True},
    "masked-per-token": {"mask_loss": True, "per_token": True},
    "positions": {"reset_positions": True},
    "attention": {"reset_attention": True},
    "all": {"mask_loss": True, "reset_positions": True, "reset_attention": True},
    "all-per-token": {"mask_loss": True, "per_token": True, "reset_positions": True,
                      "reset_attention": True},
}


def documents():
    """Mostly long ones, and runs of short ones: microbatches differ in what counts."""
    rng = np.random.RandomState(77)
    count = gpt2.STEPS * gpt2.GLOBAL_BATCH * gpt2.SEQ + 1
    tokens = []
    while len(tokens) < count:
        short = rng.random_sample() < 0.15
        for _ in range(rng.randint(1, 12) if short else 1):
            length = rng.randint(1, 6) if short else rng.randint(10, 71)
            token = rng.randint(EOD)
            for _ in range(length - 1):
                tokens.append(token)
                token = (7 * token + 3) % EOD if rng.random_sample() < 0.8 \
                    else rng.randint(EOD)
            tokens.append(EOD)
    return np.array(tokens[:count], dtype=np.uint8)


def masks(ids):
    """Of each sample: loss mask, positions, and which key each query sees."""
    batch, length = ids.shape
    counts = (ids != EOD).double()
    positions = torch.arange(length).repeat(batch, 1)
    seen = torch.ones(length, length).tril().bool().repeat(batch, 1, 1)
    for sample in range(batch):
        before = 0
        for end in (ids[sample] == EOD).nonzero().flatten().tolist():
            seen[sample, end + 1:, :end + 1] = False
            positions[sample, end + 1:] -= end + 1 - before
            before = end + 1
    return counts, positions, seen


def attention(x, p, layer, seen):
    qkv = torch.einsum("bse,ehtd->bshtd", x, p[layer + "attn.qkv.weight"])
    qkv = qkv + p[layer + "attn.qkv.bias"]
    q, k, v = (t.transpose(1, 2) for t in qkv.unbind(dim=3))
    scores = q @ k.transpose(-1, -2) / math.sqrt(gpt2.HEAD_DIM)
    probs = scores.masked_fill(~seen[:, None], -math.inf).softmax(dim=-1)
    out = torch.einsum("bhsd,hde->bse", probs @ v, p[layer + "attn.out.weight"])
    return out + p[layer + "attn.out.bias"]


def logits_of(p, ids, positions, seen):
    x = p["embed.tokens"][ids] + p["embed.positions"][positions]
    for n in range(gpt2.LAYERS):
        layer = f"layers.{n}."
        x = x + attention(gpt2.norm(x, p, layer + "norm1"), p, layer, seen)
        x = x + gpt2.mlp(gpt2.norm(x, p, layer + "norm2"), p, layer)
    x = gpt2.norm(x, p, "final_norm")
    padding = torch.arange(gpt2.PADDED_VOCAB) >= gpt2.VOCAB
    return (x @ p["embed.tokens"].t()).masked_fill(padding, -math.inf)


def gradients(p, ids, labels, choice):
    counts, positions, seen = masks(ids)
    length = ids.shape[1]
    if not choice.get("mask_loss"):
        counts = torch.ones_like(counts)
    if not choice.get("reset_positions"):
        positions = torch.arange(length).expand_as(positions)
    if not choice.get("reset_attention"):
        seen = torch.ones(length, length).tril().bool().expand_as(seen)
    losses = gpt2.token_losses(logits_of(p, ids, positions, seen), labels) * counts
    logged = losses.sum() / counts.sum()
    trained = logged
    if not choice.get("per_token"):
        parts = [part.sum() / torch.clamp(n.sum(), min=1)
                 for part, n in zip(losses.split(MICRO), counts.split(MICRO))]
        trained = torch.stack(parts).mean()
    grads = torch.autograd.grad(trained, list(p.values()))
    return logged.item(), trained.item(), dict(zip(p, grads))


def train(choice, tokens, dtype):
    p = gpt2.to_torch(gpt2.initial_parameters({"tied": True, "rms": False}, 1), dtype)
    moments, losses, norms, apart = {}, [], [], 0.0
    for step in range(1, gpt2.STEPS + 1):
        ids, labels = gpt2.batch_of(tokens, step)
        loss, trained, grads = gradients(p, ids, labels, choice)
        losses.append(loss)
        norms.append(gpt2.adamw_step(p, grads, moments, step))
        apart = max(apart, abs(loss - trained) / loss)
    return losses, norms, apart


def main():
    torch.set_num_threads(1)
    tokens = documents()
    tokens.tofile(os.path.join(HERE, "data.bin"))
    report = {"spec": "gpt2-nano-nodrop", "eod": EOD, "micro_batch": MICRO,
              "global_batch": gpt2.GLOBAL_BATCH, "steps": gpt2.STEPS, "max_lr": gpt2.LR,
              "min_lr": gpt2.MIN_LR, "warmup": gpt2.WARMUP, "variants": {}}
    for name, choice in VARIANTS.items():
        losses, norms, apart = train(choice, tokens, torch.float64)
        losses32, norms32, _ = train(choice, tokens, torch.float32)
        report["variants"][name] = {
            **choice, "losses": losses, "grad_norms": norms,
            "float32_relative_error": {"losses": gpt2.relative(losses32, losses),
                                       "grad_norms": gpt2.relative(norms32, norms)}}
        print(f"{name}: loss {losses[0]:.6f} -> {losses[-1]:.6f}, the two means are up to "
              f"{apart:.1e} apart, float32 "
              f"{report['variants'][name]['float32_relative_error']}", flush=True)
    with open(os.path.join(HERE, "expected.json"), "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    print(f"torch {torch.__version__}, numpy {np.__version__}")


if __name__ == "__main__":
    main()
