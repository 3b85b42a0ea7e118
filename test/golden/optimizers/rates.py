#!/usr/bin/env python3
"""Learning rates and weight decays by Megatron-Core's OptimizerParamScheduler.

Writes rates.json beside this file: for each of RECIPES, which has the keys of a recipe
in steps, the rate and decay of n = 0, 1, ..., STEPS steps of BATCH samples. Needs
megatron-core 0.19.2 (Python 3.12) and what it imports.
"""
import json
import os

from megatron.core.optimizer_param_scheduler import OptimizerParamScheduler

STEPS, BATCH = 20, 16
BASE = {"lr": 3e-3, "min_lr": 3e-4, "weight_decay": 0.1}
RECIPES = {
    "constant": {"decay": "constant", "warmup_steps": 5},
    "linear": {"decay": "linear", "warmup_steps": 5},
    "cosine": {"decay": "cosine", "warmup_steps": 5},
    "no-warmup": {"decay": "cosine"},
    "early": {"decay": "cosine", "warmup_steps": 3, "decay_steps": 12, "init_lr": 1e-4},
    "fraction": {"decay": "linear", "warmup_fraction": 0.33, "decay_steps": 16},
    "inverse-square-root": {"decay": "inverse-square-root", "warmup_steps": 4,
                            "min_lr": 1.6e-3, "decay_steps": 18},
    **{f"wsd-{style}": {"decay": "wsd", "warmup_steps": 4, "wsd_decay": style,
                        "wsd_decay_steps": 8, "decay_steps": 18}
       for style in ("linear", "cosine", "exponential", "minus_sqrt")},
    "ramp-linear": {"decay": "cosine", "warmup_steps": 5, "start_weight_decay": 0.02,
                    "weight_decay_ramp": "linear"},
    "ramp-cosine": {"decay": "cosine", "warmup_steps": 5, "start_weight_decay": 0.02,
                    "weight_decay_ramp": "cosine"},
}
NAMES = {"wsd": "WSD"}


class Optimizer:
    """What the scheduler sets."""
    def __init__(self):
        self.param_groups = [{}]


def curve(recipe):
    ramp = recipe.get("weight_decay_ramp", "constant")
    decay = recipe.get("decay_steps", STEPS) * BATCH
    fraction = recipe.get("warmup_fraction")
    optimizer = Optimizer()
    scheduler = OptimizerParamScheduler(
        optimizer, init_lr=recipe.get("init_lr", 0.0), max_lr=recipe["lr"],
        min_lr=recipe["min_lr"],
        lr_warmup_steps=fraction * decay if fraction
        else recipe.get("warmup_steps", 0) * BATCH,
        lr_decay_steps=decay, lr_decay_style=NAMES.get(recipe["decay"], recipe["decay"]),
        start_wd=recipe["weight_decay"] if ramp == "constant"
        else recipe["start_weight_decay"],
        end_wd=recipe["weight_decay"], wd_incr_steps=STEPS * BATCH, wd_incr_style=ramp,
        wsd_decay_steps=recipe.get("wsd_decay_steps", 0) * BATCH,
        lr_wsd_decay_style=recipe.get("wsd_decay"))
    rates, decays = [], []
    for _ in range(STEPS + 1):
        rates.append(optimizer.param_groups[0]["lr"])
        decays.append(optimizer.param_groups[0]["weight_decay"])
        scheduler.step(BATCH)
    return {"recipe": {"steps": STEPS, **recipe}, "lr": rates, "weight_decay": decays}


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rates.json")
    with open(path, "w") as file:
        json.dump({"batch": BATCH, "recipes": {
            name: curve({**BASE, **recipe}) for name, recipe in RECIPES.items()}},
                  file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
