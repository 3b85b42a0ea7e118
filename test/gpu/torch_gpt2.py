#!/usr/bin/env python3
"""GPT-2 in PyTorch: compiled, flash attention, fused AdamW, bf16 by autocast.

usage: torch_gpt2.py SPEC SAMPLES STEPS GATE

SPEC is gpt2-124m or gpt2-774m; a sample has 1,024 tokens, nothing drops out. Compiles and makes
three steps, says "ready", waits for the file GATE, and measures STEPS of them. Prints {"step_ms": MEAN}. PyTorch
chooses among its attention kernels: cuDNN's, on an H100.
"""

import json
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

SIZES = {"gpt2-124m": (12, 768, 12), "gpt2-774m": (36, 1280, 20)}
VOCAB, LENGTH = 50304, 1024


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        samples, length, width = x.shape
        q, k, v = (part.view(samples, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(samples, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCAB, width), nn.Embedding(LENGTH, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB, bias=False)
        self.head.weight = self.tokens.weight
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, labels):
        x = self.tokens(tokens) + self.positions.weight
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), labels.flatten())


def main():
    spec, samples, steps, gate = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model = Gpt2(*SIZES[spec]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    compiled = torch.compile(model)
    batch = torch.randint(0, 250, (samples, LENGTH + 1), device="cuda")

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = compiled(batch[:, :-1].contiguous(), batch[:, 1:].contiguous())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    print("ready", flush=True)
    while not os.path.exists(gate):
        time.sleep(0.05)
    for _ in range(3):
        step()
    # The host runs ahead: nothing is waited for between steps.
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        loss = step()
    torch.cuda.synchronize()
    mean = 1e3 * (time.perf_counter() - begin) / steps
    print(json.dumps({"step_ms": mean, "loss": loss.item(),
                      "memory_gib": torch.cuda.max_memory_allocated() / 2**30, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
