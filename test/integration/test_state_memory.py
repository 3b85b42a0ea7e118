"""What a rank keeps from step to step, against closed forms of bytes per parameter.

For ZeRO 0, 1 and 2, two and four replicas (and one, where gradients are bf16, too),
f32, bf16 and bf16 with such gradients, a tied table and an untied one,
the report's `state` is the closed form times the elements of its buckets, which are
the parameters and no more padding than the layout of buckets allows, which the report
counts; gathers have no buffer; a tied table has a
second accumulator, an untied one none; and only ZeRO-2 stages gradients, in no more
than all of them and no less than its largest bucket.

usage: test_state_memory.py BIN_DIR
"""

import json
import math
import os
import sys
import tempfile

import precision
from layouts import Layout
from precision import FP16_SUMS, SUMS
from run_layout import Failed, Mtc, Report

# (parameters, gradients, optimizer) a parameter, by type and ZeRO stage, of dp = d:
# Rajbhandari et al. 2020, figure 1, with AdamW in fp32 and fp32 gradients; with f32
# parameters the optimizer has no copies of them. With gradients in bf16 there is no
# buffer of them in fp32, which Megatron's distributed optimizer has beside that in 16
# bits (4 bytes, divided by d as the states are: 20 and 4 + 16/d in all): the update
# widens them in registers.
CLOSED_FORMS = {
    ("f32", 0): lambda d: (4, 4, 8), ("f32", 1): lambda d: (4, 4, 8 / d),
    ("f32", 2): lambda d: (4, 4 / d, 8 / d),
    ("bf16", 0): lambda d: (2, 4, 12), ("bf16", 1): lambda d: (2, 4, 12 / d),
    ("bf16", 2): lambda d: (2, 4 / d, 12 / d),
    (SUMS, 0): lambda d: (2, 2, 12), (SUMS, 1): lambda d: (2, 2, 12 / d),
    (SUMS, 2): lambda d: (2, 2 / d, 12 / d)}

# The same as sums, as Megatron's distributed optimizer and contract N6 print them.
TOTALS = {("f32", 0): lambda d: 16, ("f32", 1): lambda d: 8 + 8 / d,
          ("f32", 2): lambda d: 4 + 12 / d, ("bf16", 0): lambda d: 18,
          ("bf16", 1): lambda d: 6 + 12 / d, ("bf16", 2): lambda d: 2 + 16 / d,
          (SUMS, 0): lambda d: 20 - 4, (SUMS, 1): lambda d: 4 + 16 / d - 4 / d,
          (SUMS, 2): lambda d: 2 + 14 / d}

for forms in (CLOSED_FORMS, TOTALS):  # fp16 keeps what bf16 does
    forms.update({(dtype, zero): forms[like, zero] for zero in (0, 1, 2)
                  for dtype, like in (("fp16", "bf16"), (FP16_SUMS, SUMS))})

BUCKET = 20_000  # elements: several buckets


def check(mtc, report, spec, dtype, zero, dp, folder):
    layout = Layout(dp=dp, zero=zero)
    what = f"{spec} {dtype} {layout.name}"
    bundle = mtc.compile(spec, layout, os.path.join(folder, what.replace(" ", "-")),
                         [*precision.options(dtype), "--bucket-size", BUCKET])
    with open(os.path.join(bundle, "report.json")) as file:
        said = json.load(file)
    stage = said["stages"][0]
    program = os.path.join(bundle, "programs", "stage0")
    buckets = json.loads(mtc.call("inspect", program, "--json").stdout)["buckets"]
    plan, parameters = stage["state"], stage["parameters"]
    first = [b for b in buckets if "second_use_of" not in b]
    second = sum(b["elements"] for b in buckets if "second_use_of" in b)
    elements = sum(b["elements"] for b in first)

    # A parameter begins at a multiple of 64 elements, a bucket ends at one of
    # lcm(dp, 128); without ZeRO nothing is padded.
    most = 0 if zero == 0 else 63 * 60 + (math.lcm(dp, 128) - 1) * len(first)
    report.expect(len(first) > 2 and 0 <= elements - parameters <= most,
                  f"{what}: {elements} elements in {len(first)} buckets of "
                  f"{parameters} parameters")
    for name, bytes_each in zip(("parameters", "gradients", "optimizer"),
                                CLOSED_FORMS[dtype, zero](dp)):
        report.expect(plan[name] == bytes_each * elements,
                      f"{what}: expected {bytes_each} bytes of {name} an element, "
                      f"{bytes_each * elements}, found {plan[name]}")
    total = TOTALS[dtype, zero](dp)
    row = said["bytes_per_parameter"][zero]
    report.expect(said["zero"] == row["zero"] == zero and math.isclose(row["total"], total),
                  f"{what}: expected {total} bytes in the closed form, found {row}")
    # One replica has all.
    shards = dp if zero == 2 else 1
    width = 2 if dtype in (SUMS, FP16_SUMS) else 4
    report.expect(plan["second_gradients"] == width * second // shards
                  and (second > 0) == ("untied" not in spec),
                  f"{what}: second accumulators of {second} elements take "
                  f"{plan['second_gradients']} bytes")
    # Parameters are gathered where they lie; padding is in the rows above.
    padding = elements - parameters
    # A bucket of second uses has one parameter.
    tied = sum(width * (b["elements"] - b["unpadded"]) for b in buckets
               if "second_use_of" in b)
    bytes_each = round(total * padding + tied / shards)
    report.expect(plan["gathers"] == 0 and
                  stage["padding"] == {"elements": padding, "bytes": bytes_each},
                  f"{what}: expected {padding} elements and {bytes_each} bytes of padding, "
                  f"found {stage['padding']}, and no buffer of gathers, found "
                  f"{plan['gathers']}")
    # Buckets that wait at the same time lie side by side.
    largest = max(width * b["elements"] for b in buckets)
    stages = zero == 2 and dp > 1
    least, most = (largest, width * (elements + second)) if stages else (0, 0)
    report.expect(least <= plan["staging"] <= most and (not stages or plan["staging"] < most),
                  f"{what}: expected {least} to {most} bytes of staging, found "
                  f"{plan['staging']}")
    # Beside the closed forms, which do not count it: known of this plan's ZeRO stage alone.
    beside = [0, 0, plan["staging"] if zero == 2 or dp == 1 else None]
    found = [row["staging_bytes"] for row in said["bytes_per_parameter"]]
    report.expect(found == beside, f"{what}: expected staging of {beside}, found {found}")
    print(f"{what}: {total} bytes a parameter, staging {plan['staging']}, "
          f"second accumulators {plan['second_gradients']}", flush=True)


def main():
    mtc, report = Mtc(), Report()
    with tempfile.TemporaryDirectory() as folder:
        for dtype, zero in CLOSED_FORMS:
            for dp in {SUMS: (1, 2, 4), "fp16": (4,), FP16_SUMS: (4,)}.get(dtype, (2, 4)):
                for spec in ("gpt2-nano", "gpt2-nano-untied"):
                    check(mtc, report, spec, dtype, zero, dp, folder)
    return report.finish("bytes per parameter")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(str(failed))
