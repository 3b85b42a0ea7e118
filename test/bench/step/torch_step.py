"""Times a training step of GPT-2 124M in PyTorch: BATCH samples of SEQ tokens,
AdamW. The peer of step.py; prints JSON.

usage: torch_step.py f32|bf16 STEPS BATCH SEQ [compiled]
"""

import json
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

HIDDEN, HEADS, LAYERS, VOCAB, LONGEST = 768, 12, 12, 50304, 1024


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def attention(self, x):
        b, s, _ = x.shape
        q, k, v = (t.view(b, s, HEADS, -1).transpose(1, 2)
                   for t in self.qkv(x).split(HIDDEN, dim=2))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1)
        else:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
            future = torch.ones(s, s, dtype=torch.bool).triu(1)
            p = F.dropout(scores.masked_fill(future, -math.inf).softmax(-1), 0.1)
            y = p @ v
        return self.out(y.transpose(1, 2).reshape(b, s, HIDDEN))

    def forward(self, x):
        x = x + F.dropout(self.attention(self.norm1(x)), 0.1)
        return x + F.dropout(self.down(gelu(self.up(self.norm2(x)))), 0.1)


def gelu(x):
    try:
        return F.gelu(x, approximate="tanh")
    except TypeError:
        return F.gelu(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, HIDDEN)
        self.positions = nn.Embedding(LONGEST, HIDDEN)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(HIDDEN)

    def forward(self, ids):
        x = F.dropout(self.tokens(ids) + self.positions.weight[:ids.shape[1]], 0.1)
        return self.norm(self.blocks(x)) @ self.tokens.weight.t()


def main():
    dtype, (steps, batch, seq) = sys.argv[1], map(int, sys.argv[2:5])
    is_compiled = sys.argv[5:] == ["compiled"]
    torch.set_num_threads(2)
    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    compute = torch.compile(model) if is_compiled else model
    ids, labels = torch.randint(0, 256, (2, batch, seq))
    times = []
    for _ in range(steps + 2):
        begin = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bf16"):
            logits = compute(ids)
            loss = F.cross_entropy(logits.float().view(-1, VOCAB), labels.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        times.append(time.perf_counter() - begin)
    version = torch.__version__ + (", compiled" if is_compiled else "")
    print(json.dumps({"version": version, "threads": torch.get_num_threads(),
                      "seconds": statistics.median(times[2:])}))


if __name__ == "__main__":
    main()
