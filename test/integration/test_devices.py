"""The guarded device gives the bits of the plain cpu.

On it nothing runs before somebody waits for it, and the arenas of a rank cannot be
touched but while a fragment, a copy or a collective runs (runtime/device/guarded). So
initial weights, every kind of dump, training, saves, weights from a file and evaluation
go through the device's copies, or the run ends with a fault that names the arena.

usage: test_devices.py BIN_DIR
"""

import os
import sys
import tempfile

import corpus
import precision
from layouts import SINGLE, Layout
from run_layout import Failed, Mtc, Report

SPEC = "gpt2-nano"
DUMPS = ("init", "logits", "grads@2", "params@1", "params")
DEVICES = ("cpu", "guarded")  # the first is what the others must agree with
THREADS = 2  # of the only rank of SINGLE: its kernels have a workspace
# Each kind of collective and of exchange, ZeRO off and on, up to eight ranks.
CASES = [
    ("f32", SINGLE),
    ("f32", Layout(tp=1, pp=2, dp=2, zero=0, schedule="gpipe")),
    ("f32", Layout(tp=2, pp=2, dp=2, zero=1)),
    ("bf16", Layout(tp=1, pp=4, dp=1)),
    ("bf16", Layout(tp=2, pp=1, dp=2, zero=0)),
    ("bf16", Layout(tp=1, pp=2, dp=2, zero=1)),
    (precision.SUMS, Layout(tp=2, pp=1, dp=2, zero=2)),
]


def run_on(mtc, device, bundle, data, comm, folder):
    """Trains from the seed, then goes on from the saved weights; evaluates. Files go to
    `folder`. Returns all that two devices must agree about."""
    os.environ["MTC_DEVICE"] = device
    try:
        recipe = ["--data", data, "--data-type", "u8", "--lr", 1e-3]
        saved = os.path.join(folder, "saved.safetensors")
        log = mtc.run(bundle, [*recipe, "--steps", 3], folder, (comm,), DUMPS,
                      ["--save", saved])
        again = mtc.run(bundle, [*recipe, "--steps", 1], os.path.join(folder, "again"),
                        (comm,), ("params",), ["--init-from", saved])
        loss = mtc.call("run", bundle, "--quiet", "--comm", comm, *recipe,
                        "--init-from", saved, "--eval", 2).stdout
    finally:
        del os.environ["MTC_DEVICE"]
    found = {f"step {r['step']}": (r["loss"], r["grad_norm"]) for r in log}
    found["from the file"] = (again[0]["loss"], again[0]["grad_norm"])
    found["evaluation"] = loss
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".safetensors"):
                with open(os.path.join(place, name), "rb") as file:
                    path = os.path.relpath(os.path.join(place, name), folder)
                    found[path] = file.read()
    return found


def check(mtc, report, folder, bundle, data, name, comm):
    plain, *others = (run_on(mtc, device, bundle, data, comm,
                             os.path.join(folder, f"{name}-{comm}-{device}"))
                      for device in DEVICES)
    # Three steps, one from the file, the evaluation, five dumps, the save, one more.
    report.expect(len(plain) == 3 + 1 + 1 + len(DUMPS) + 2,
                  f"{name}: found {sorted(plain)}")
    for device, found in zip(DEVICES[1:], others):
        report.expect(plain.keys() == found.keys(),
                      f"{name} over {comm}: {device} writes {sorted(found)}")
        for key, value in plain.items():
            report.expect(found.get(key) == value,
                          f"{name} over {comm}: {key} differs on {device}")
    print(f"  {name} over {comm}: {len(plain)} results are equal", flush=True)


def check_name(mtc, report, bundle, data):
    os.environ["MTC_DEVICE"] = "abacus"
    for comm in ("shm", "threads"):
        result = mtc.call("run", bundle, "--quiet", "--comm", comm, "--data", data,
                          "--data-type", "u8", "--steps", 1, check=False)
        report.expect(result.returncode == 2 and "MTC_DEVICE: expected cpu" in
                      result.stderr and "found 'abacus'" in result.stderr,
                      f"another device: exit code {result.returncode}, {result.stderr}")
    del os.environ["MTC_DEVICE"]


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "tokens")
        corpus.write(data)
        for dtype, layout in CASES:
            name = f"{dtype}-{layout.name}"
            bundle = mtc.compile(SPEC, layout, os.path.join(folder, name),
                                 [*precision.options(dtype), "--threads",
                                  THREADS if layout is SINGLE else 1])
            for comm in ("shm", "threads"):
                check(mtc, report, folder, bundle, data, name, comm)
            if layout is SINGLE:
                check_name(mtc, report, bundle, data)
    return report.finish(f"{len(CASES)} layouts on {' and '.join(DEVICES)}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
