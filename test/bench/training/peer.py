"""Trains the model of a GPT-2 bundle once more, in PyTorch, and compares the two logs.

    mtc compile gpt2-tiny --gbs 32 --mbs 4 -o one
    mtc run one --data book.bin --data-type u8 --lr 3e-3 --min-lr 3e-4 --warmup 20 \\
        --steps 350 --log one.jsonl --dump init .
    peer.py init.safetensors book.bin one.jsonl --warmup 20

The peer starts from the dumped weights and reads the same samples; everything else is
its own: PyTorch's operators, autograd, AdamW and clipping, the whole batch at once. It
knows learned positions, norm before, fused qkv, GELU (tanh), tied tokens, no dropout
and bytes as tokens. Prints differences of loss and gradient norm. Needs PyTorch (1.13
was used) and numpy; not a test.
"""

import argparse
import json
import math
import struct

import numpy
import torch
from torch.nn import functional as F

import order


def read_safetensors(path, dtype):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    weights = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        array = numpy.frombuffer(data[begin:end], dtype="<f4").reshape(info["shape"])
        weights[name] = torch.tensor(array, dtype=dtype, requires_grad=True)
    return weights


class Model:
    """The weights keep the shapes of the file: qkv is [embed, head, (q, k, v), dim]."""

    def __init__(self, weights, seq):
        self.w = weights
        self.layers = len({n.split(".")[1] for n in weights if n.startswith("layers.")})
        self.seq = seq or weights["embed.positions"].shape[0]
        hidden = weights["embed.tokens"].shape[1]
        heads, self.dim = weights["layers.0.attn.out.weight"].shape[:2]
        assert heads * self.dim == hidden, "expected as many key heads as heads"
        self.future = torch.ones(self.seq, self.seq).triu(1).bool()

    def norm(self, x, name):
        scale, bias = self.w[name + ".scale"], self.w[name + ".bias"]
        return F.layer_norm(x, scale.shape, scale, bias, 1e-5)

    def attention(self, x, name):
        w = self.w
        qkv = torch.einsum("bse,ehtd->tbhsd", x, w[name + ".qkv.weight"])
        qkv = qkv + w[name + ".qkv.bias"].transpose(0, 1)[:, None, :, None, :]
        q, k, v = qkv
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(self.dim)
        scores = scores.masked_fill(self.future, -math.inf)
        out = torch.einsum("bhsd,hde->bse", scores.softmax(-1) @ v,
                           w[name + ".out.weight"])
        return out + w[name + ".out.bias"]

    def mlp(self, x, name):
        w = self.w
        up = x @ w[name + ".up.weight"] + w[name + ".up.bias"]
        inner = math.sqrt(2 / math.pi) * (up + 0.044715 * up ** 3)
        return 0.5 * up * (1 + inner.tanh()) @ w[name + ".down.weight"] \
            + w[name + ".down.bias"]

    def loss(self, ids, labels):
        x = self.w["embed.tokens"][ids] + self.w["embed.positions"][:self.seq]
        for i in range(self.layers):
            name = f"layers.{i}"
            x = x + self.attention(self.norm(x, name + ".norm1"), name + ".attn")
            x = x + self.mlp(self.norm(x, name + ".norm2"), name + ".mlp")
        logits = self.norm(x, "final_norm") @ self.w["embed.tokens"].T
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def learning_rate(options, step):
    if step <= options.warmup:
        return options.lr * step / options.warmup
    if options.decay == "constant":
        return options.lr
    x = min(1.0, (step - options.warmup) / (options.decay_steps - options.warmup))
    return options.min_lr + (options.lr - options.min_lr) * (1 + math.cos(math.pi * x)) / 2


def optimizer(options, weights):
    """Weight decay is for weights, not for biases and norms."""
    plain = [w for n, w in weights.items() if n.endswith((".bias", ".scale"))]
    decayed = [w for n, w in weights.items() if not n.endswith((".bias", ".scale"))]
    groups = [{"params": decayed, "weight_decay": options.weight_decay},
              {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=options.lr, eps=1e-8,
                             betas=(options.beta1, options.beta2))


def train(options, steps):
    """Yields loss and gradient norm of each step."""
    weights = read_safetensors(options.weights, getattr(torch, options.dtype))
    model, adam = Model(weights, options.seq), optimizer(options, weights)
    text = torch.from_numpy(numpy.fromfile(options.data, dtype="u1").astype("i8"))
    windows = (len(text) - 1) // model.seq
    for step in range(1, steps + 1):
        first = (step - 1) * options.batch
        begin = torch.tensor([order.window(k, windows, options.order, options.seed)
                              for k in range(first, first + options.batch)])
        ids = begin[:, None] * model.seq + torch.arange(model.seq)
        for group in adam.param_groups:
            group["lr"] = learning_rate(options, step)
        adam.zero_grad()
        loss = model.loss(text[ids], text[ids + 1])
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(weights.values(), options.clip)
        adam.step()
        yield loss.item(), norm.item()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", help="safetensors of `mtc run --dump init`")
    parser.add_argument("data", help="the bytes")
    parser.add_argument("log", help="JSON lines of `mtc run --log`")
    parser.add_argument("--order", choices=["shuffled", "sequential"],
                        default="shuffled")
    parser.add_argument("--seed", type=int, default=1234)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seq", type=int, help="default: the model's longest")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--min-lr", type=float, default=3e-4)
    parser.add_argument("--warmup", type=int, default=0)
    parser.add_argument("--decay", choices=["cosine", "constant"], default="cosine")
    parser.add_argument("--decay-steps", type=int, help="default: the steps of the log")
    parser.add_argument("--beta1", type=float, default=0.9)
    parser.add_argument("--beta2", type=float, default=0.95)
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--steps", type=int, help="default: those of the log")
    parser.add_argument("--save-log", help="JSON lines of the peer")
    return parser.parse_args()


def report(ours, peers):
    def bits(log, count):
        return sum(s["loss"] for s in log[-count:]) / len(log[-count:]) / math.log(2)

    def apart(key, first, last):
        return max(abs(a[key] - b[key]) / abs(b[key])
                   for a, b in zip(ours[first:last], peers[first:last]))

    print("steps       largest relative difference of loss, of norm")
    edges = [e for e in (0, 1, 10, 20, 50, 100, 150, 200, 250, 300) if e < len(peers)]
    for first, last in zip(edges, edges[1:] + [len(peers)]):
        print(f"{first + 1:>4} to {last:>4}   {apart('loss', first, last):.1e}  "
              f"{apart('grad_norm', first, last):.1e}")
    print(f"bits per byte, mean of the last 50: {bits(ours, 50):.4f}, "
          f"peer {bits(peers, 50):.4f}")


def main():
    options = parse()
    torch.set_num_threads(1)
    with open(options.log) as file:
        ours = [row for row in map(json.loads, file) if "header" not in row]
    options.decay_steps = options.decay_steps or len(ours)
    ours = ours[:options.steps or len(ours)]
    peers = [{"loss": loss, "grad_norm": norm}
             for loss, norm in train(options, len(ours))]
    if options.save_log:
        with open(options.save_log, "w") as file:
            file.writelines(json.dumps(step) + "\n" for step in peers)
    report(ours, peers)


if __name__ == "__main__":
    main()
