#!/usr/bin/env python3
"""Loss scales of Megatron-core's own DynamicGradScaler, for random settings and overflows.

Writes scales.json: a list of cases, each with the settings, a text `steps` with a letter per
step (x: the gradients overflowed, .: they did not), and `scales`, the scale of each step and
of the one behind the last. Needs Python >= 3.12, megatron-core 0.19.2, torch 2.x (CPU):

    pip install megatron-core==0.19.2 torch
    python3 generate.py
"""
import importlib.util
import json
import os
import random

import torch

# The scaler puts its numbers on a GPU; their arithmetic is the same on a CPU.
make = torch.tensor
torch.tensor = lambda *args, **kw: make(*args, **{k: v for k, v in kw.items()
                                                  if k != "device"})


def scaler_class():
    """Of the file alone: the package wants a GPU when it is imported."""
    root = os.path.dirname(importlib.util.find_spec("megatron.core").origin)
    spec = importlib.util.spec_from_file_location(
        "grad_scaler", os.path.join(root, "optimizer", "grad_scaler.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.DynamicGradScaler


def case_of(rng, cls):
    window, hysteresis = rng.choice([1, 2, 3, 5, 10]), rng.choice([1, 2, 3, 4])
    least = 2.0 ** rng.choice([-3, 0, 0, 4])
    first = least * 2.0 ** rng.choice([0, 1, 3, 8, 32])
    scaler = cls(initial_scale=first, min_scale=least, growth_factor=2.0,
                 backoff_factor=0.5, growth_interval=window, hysteresis=hysteresis)
    steps, scales, share = "", [scaler.scale.item()], rng.choice([0.05, 0.2, 0.5, 0.9])
    for _ in range(60):
        overflows = rng.random() < share
        scaler.update(overflows)
        steps += "x" if overflows else "."
        scales.append(scaler.scale.item())
    return {"initial_loss_scale": first, "min_loss_scale": least,
            "loss_scale_window": window, "hysteresis": hysteresis, "steps": steps,
            "scales": scales}


def main():
    rng, cls = random.Random(45), scaler_class()
    cases = [case_of(rng, cls) for _ in range(40)]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scales.json")
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    print(f"{len(cases)} cases, torch {torch.__version__}")


if __name__ == "__main__":
    main()
