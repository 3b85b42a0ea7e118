"""What PyTorch's scaled_dot_product_attention takes for the rows of bench_attention.

python3 attention_peer.py [THREADS]: the best of some repeats, as there. With dropout it takes its path
without flash attention, so only rows without are beside ours.
"""
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

BATCH, HEADS = 4, 12


def best_seconds(body):
    best, total, repeats = float("inf"), 0.0, 0
    while repeats < 3 or (total < 0.15 and repeats < 100):
        start = time.perf_counter()
        body()
        took = time.perf_counter() - start
        best, total, repeats = min(best, took), total + took, repeats + 1
    return best


def row(dtype, seq, dim, dropout):
    q, k, v = (torch.randn(BATCH, seq, HEADS, dim).to(dtype).transpose(1, 2).requires_grad_() for _ in range(3))
    gradient = torch.randn(BATCH, HEADS, seq, dim).to(dtype)

    def forward():
        return scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)

    out = forward()
    seconds = [best_seconds(forward), best_seconds(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))]
    flops = BATCH * HEADS * seq * (seq + 1) / 2 * dim * 1e-9
    parts = [f"{name} {1e3 * s:7.2f} ms {f * flops / s:6.1f} GF/s"
             for name, f, s in [("forward", 4, seconds[0]), ("backward", 10, seconds[1]), ("both", 14, sum(seconds))]]
    print(f"{str(dtype)[6:]:>8} {seq:5} {dim:4} p={dropout:<3}", "  ".join(parts), flush=True)


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    print("PyTorch", torch.__version__)
    for dtype in (torch.float32, torch.bfloat16):
        for seq in (256, 1024):
            for dim in (64, 96, 128):
                row(dtype, seq, dim, 0.0)
            row(dtype, seq, 64, 0.1)


main()
