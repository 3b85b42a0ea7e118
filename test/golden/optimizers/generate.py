#!/usr/bin/env python3
"""Losses of 20 steps with every optimizer, schedule and group, by PyTorch in float64.

Model, weights and data are those of ../gpt2 (tied-1); torch.optim's AdamW, Adam and SGD
update, and Lion by the formula of its paper (arXiv 2302.06675, algorithm 2) in numpy.
Rates and decays are rates.json's, which Megatron-Core made. Writes losses.json.
"""
import fnmatch
import importlib.util
import json
import os

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
GPT2 = os.path.join(HERE, os.pardir, "gpt2")
spec = importlib.util.spec_from_file_location("gpt2", os.path.join(GPT2, "generate.py"))
gpt2 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpt2)

SEED, STEPS, CLIP = 1, 20, 1.0
BETAS = {"adamw": (0.9, 0.95), "adam_l2": (0.9, 0.95), "lion": (0.9, 0.99)}
MOMENTUM, EPS = 0.9, 1e-8


class Lion(torch.optim.Optimizer):
    """The update of the paper, on numpy arrays."""

    def __init__(self, groups, betas):
        super().__init__(groups, {"betas": betas})

    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", np.zeros(p.shape))
                value, g = p.detach().numpy(), p.grad.numpy()
                update = np.sign(beta1 * m + (1 - beta1) * g)
                value -= group["lr"] * (update + group["weight_decay"] * value)
                self.state[p]["m"] = beta2 * m + (1 - beta2) * g


def make_optimizer(kind, groups):
    if kind == "adamw":
        return torch.optim.AdamW(groups, betas=BETAS[kind], eps=EPS)
    if kind == "adam_l2":
        return torch.optim.Adam(groups, betas=BETAS[kind], eps=EPS)
    if kind in ("sgd", "nesterov"):
        return torch.optim.SGD(groups, momentum=MOMENTUM, nesterov=kind == "nesterov")
    return Lion(groups, BETAS[kind])


def group_of(name, overrides):
    """Group and decay of a parameter: of overrides that match the last one holds."""
    group, decays = "", None
    for override in overrides:
        if fnmatch.fnmatchcase(name, override["pattern"]):
            group = override.get("group", group)
            decays = override.get("decay", decays)
    return group, decays


def train(run, curves):
    """Losses and norms. The optimizer has a group for each group and decay."""
    params = gpt2.initial_parameters({"tied": True, "rms": False}, SEED)
    tokens = gpt2.token_stream(SEED)
    p = gpt2.to_torch(params, torch.float64)
    sorted_in = {}
    for name, value in p.items():
        group, decays = group_of(name, run.get("overrides", ()))
        if decays is None:
            decays = gpt2.decays(name, value.shape)
        sorted_in.setdefault((group, decays), []).append(value)
    keys = list(sorted_in)
    optimizer = make_optimizer(run["optimizer"],
                               [{"params": sorted_in[key], "weight_decay": 0.0, "lr": 0.1}
                                for key in keys])
    losses, norms = [], []
    for step in range(1, STEPS + 1):
        for (group, decays), of in zip(keys, optimizer.param_groups):
            of["lr"], decay = curves(group, step)
            of["weight_decay"] = decay if decays else 0.0
        ids, labels = gpt2.batch_of(tokens, step)
        loss = gpt2.token_losses(gpt2.logits_of(p, ids), labels).mean()
        optimizer.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(p.values(), CLIP).item())
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


def curves_of(run, rates):
    """(group, step) -> rate and decay."""
    table = rates["recipes"][run["rates"]]
    first = 0 if run.get("lr_at") == "start" else 1

    def curves(group, step):
        n = step - 1 + first
        lr = table["lr"][n] * run.get("lr", table["recipe"]["lr"]) / table["recipe"]["lr"]
        decay = table["weight_decay"][n]
        own = run.get("groups", {}).get(group, {})
        if "lr" in own:  # another range, the same shape
            low, high = table["recipe"]["min_lr"], table["recipe"]["lr"]
            lr = own["min_lr"] + (lr - low) / (high - low) * (own["lr"] - own["min_lr"])
        return (lr * own.get("lr_scale", 1),
                own.get("weight_decay", decay * own.get("weight_decay_scale", 1)))
    return curves


EMBEDDINGS = {"pattern": "embed.*", "group": "embeddings"}
MLP = {"pattern": "layers.*.mlp.*.weight", "group": "mlp"}
RUNS = {
    # Rates of a table of rates.json, scaled to `lr` where an optimizer wants another.
    "adamw": {"optimizer": "adamw", "rates": "cosine"},
    "adam_l2": {"optimizer": "adam_l2", "rates": "cosine"},
    "sgd": {"optimizer": "sgd", "rates": "cosine", "lr": 0.1},
    "nesterov": {"optimizer": "nesterov", "rates": "cosine", "lr": 0.1},
    "lion": {"optimizer": "lion", "rates": "cosine", "lr": 3e-4},
    **{name: {"optimizer": "adamw", "rates": name}
       for name in ("constant", "linear", "early", "inverse-square-root", "wsd-linear",
                    "wsd-cosine", "wsd-exponential", "wsd-minus_sqrt", "ramp-linear",
                    "ramp-cosine")},
    "start": {"optimizer": "adamw", "rates": "cosine", "lr_at": "start"},
    "groups": {"optimizer": "adamw", "rates": "no-warmup", "overrides": [
        EMBEDDINGS, MLP, {"pattern": "*.bias", "decay": True}],
        "groups": {"embeddings": {"lr_scale": 0.25, "weight_decay": 0.3},
                   "mlp": {"lr": 1e-3, "min_lr": 2e-4, "weight_decay_scale": 0.5}}},
    "groups-lion": {"optimizer": "lion", "rates": "cosine", "lr": 3e-4, "overrides": [
        EMBEDDINGS, {"pattern": "embed.positions", "decay": False}],
        "groups": {"embeddings": {"lr_scale": 0.0, "weight_decay": 0.0}}},
}


def main():
    torch.set_num_threads(1)
    with open(os.path.join(HERE, "rates.json")) as file:
        rates = json.load(file)
    written = {}
    for name, run in RUNS.items():
        losses, norms = train(run, curves_of(run, rates))
        written[name] = {**run, "losses": losses, "grad_norms": norms}
        print(f"{name}: {losses[0]:.4f} -> {losses[-1]:.4f}", flush=True)
    with open(os.path.join(HERE, "losses.json"), "w") as file:
        json.dump(written, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
