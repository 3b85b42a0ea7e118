"""How runs end in which steps are no updates, and what they leave."""

import json
import os
import re
import shutil
import subprocess

import cases
import safetensors
from run_layout import read_log


def run(program, bundle, packed, results, options, environment=None):
    """Runs and keeps the log, the parameters and, in end.json, exit code and message in `results`."""
    shutil.rmtree(results, ignore_errors=True)
    os.makedirs(results)
    try:
        done = subprocess.run([program, "run", bundle, *cases.reading(packed, results), "--save", "saved", *options],
                              capture_output=True, text=True, timeout=120, env=environment, cwd=results)
        code, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, said = 124, "ran longer than 120 s"
    told = re.search(r"step \d+: .*", said)
    with open(os.path.join(results, "end.json"), "w") as file:
        json.dump({"code": code, "said": told[0] if told else said[-2000:]}, file)


def facts(results):
    """What is the same on every device: how the run ended and what it skipped. A loss that is not finite
    has another value there."""
    keys = ("step", "lr", "loss_scale", "skipped_steps", "not_finite", "tokens")
    with open(os.path.join(results, "end.json")) as file:
        end = json.load(file)
    said = re.sub(r"loss [^\s)]+\)", "loss)", end["said"])
    log = os.path.join(results, "log.jsonl")
    return end["code"], said, [[row.get(key) for key in keys] + [row["grad_norm"] is None]
                               for row in (read_log(log) if os.path.exists(log) else [])]


def bits(results):
    """Losses, norms and the digest of the parameters."""
    rows = read_log(os.path.join(results, "log.jsonl"))
    saved = os.path.join(results, "saved")
    return ([(row["loss"], row["grad_norm"]) for row in rows],
            safetensors.digest(safetensors.read(saved)) if os.path.exists(saved) else None)
