"""Contract N2: dropout masks have the same bytes in every layout.

A mask is read bit by bit from the gradients of a model whose weights make it visible
(mask_probes.py), for two steps, for the sites of the first and of the last layer,
forward and backward, at the layouts of the matrix under gpipe and 1f1b, and three of
other micro-batches; without --all each kind of probe takes every twelfth one, in turn.
It must be the mask that Philox gives for
seed, sample, layer, site and element of the unpartitioned sample (philox.py).

usage: test_masks.py BIN_DIR [--all | --gpu STAND_INS]

With --gpu: programs for a GPU, under its stand-ins, at one layout for each kind of probe.
"""

import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import mask_model
import mask_probes
import philox
import safetensors
from gpu_runs import GpuMtc
from layouts import SINGLE, Layout, matrix
from mask_model import BATCH, HEADS, HIDDEN, LAYERS, SEQ
from run_layout import Failed, Mtc, Report

LAYOUTS = (SINGLE, Layout(micro_batch=4), Layout(pp=4, micro_batch=1),
           *matrix(("gpipe", "1f1b")))
KINDS = tuple(mask_probes.RATES)
SEED = 0x9E3779B97F4A7C15  # both words matter
STEPS = 2


# Of programs for a GPU, by the turn of the kind.
ON_GPU = (Layout(tp=2, sp=True), Layout(dp=2, pp=2), Layout(cp=2))


def layouts_of(kind):
    """Those that a kind of probe sees: all of them, or a share of its own."""
    if "--gpu" in sys.argv[2:]:
        return ON_GPU[KINDS.index(kind)::len(KINDS)]
    if "--all" in sys.argv[2:]:
        return LAYOUTS
    return LAYOUTS[4 * KINDS.index(kind)::4 * len(KINDS)]


def probes():
    yield mask_probes.embedding_probe()
    for layer in (LAYERS,) if "--gpu" in sys.argv[2:] else (1, LAYERS):
        yield mask_probes.hidden_probe(layer)
        yield mask_probes.attention_probe(layer)


def expected_mask(site, layer, step):
    """Of the samples of a step. Probabilities after t are zero whatever their
    word."""
    rate = mask_probes.RATES[("embedding", "attention", "hidden", "hidden")[site]]
    found = b""
    for sample in range((step - 1) * BATCH, step * BATCH):
        if site == mask_probes.PROBABILITIES:
            bits = bytearray(philox.mask(SEED, sample, layer, site,
                                         HEADS * SEQ * SEQ, rate))
            for row in range(HEADS * SEQ):
                t = row % SEQ
                bits[row * SEQ + t + 1:(row + 1) * SEQ] = bytes(SEQ - 1 - t)
            found += bytes(bits)
        else:
            found += philox.mask(SEED, sample, layer, site, SEQ * HIDDEN, rate)
    return found


class Masks:
    """What the layouts found, compared as it comes."""

    def __init__(self, report):
        self.report, self.first, self.expected, self.bits = report, {}, {}, 0

    def check(self, layout, step, what, mask):
        site, layer, direction = what
        if (site, layer, step) not in self.expected:
            self.expected[site, layer, step] = expected_mask(site, layer, step)
        wanted = self.expected[site, layer, step]
        name = (f"{layout.name}: {direction} mask of site {site} of layer {layer} "
                f"in step {step}")
        self.bits += len(mask)
        if self.report.expect(len(mask) == len(wanted), f"{name}: expected "
                              f"{len(wanted)} elements, found {len(mask)}"):
            wrong = [i for i, (w, f) in enumerate(zip(wanted, mask)) if w != f]
            size = len(wanted) // BATCH
            self.report.expect(
                not wrong, f"{name}: {len(wrong)} of {len(wanted)} bits are not "
                "Philox's, first "
                + ("" if not wrong else f"element {wrong[0] % size} of sample "
                   f"{(step - 1) * BATCH + wrong[0] // size}"))
        first = self.first.setdefault((step, what), (layout, mask))
        self.report.expect(first[1] == mask,
                           f"{name} is not that of {first[0].name}")

    def check_differences(self):
        """Two masks of the same kind that agree would hide a wrong address."""
        masks = list(self.expected.items())
        for i, ((site, *_), mask) in enumerate(masks):
            for (other, *_), second in masks[i + 1:]:
                self.report.expect(site != other or mask != second,
                                   f"two masks of site {site} are equal")


def run(mtc, bundle, probe, data, folder):
    """Gradients of both steps; a learning rate of zero keeps the weights."""
    os.makedirs(folder, exist_ok=True)
    dumps = [f"grads@{step}" for step in range(1, STEPS + 1)]
    mtc.run(bundle, ["--data", data, "--data-type", "u8", "--order", "sequential",
                     "--steps", STEPS, "--lr", 0, "--min-lr", 0, "--clip", 0,
                     "--weight-decay", 0, "--seed", SEED],
            folder, dumps=dumps, extra=("--init-from", probe.weights.write(folder)))
    return [safetensors.read(os.path.join(folder, f"{dump}.safetensors"))
            for dump in dumps]


def compile_all(mtc, folder):
    """Bundles by kind and layout; two compilations at a time."""
    jobs = []
    for kind, rate in mask_probes.RATES.items():
        spec = os.path.join(folder, f"{kind}.toml")
        mask_model.write_spec(spec, kind, rate)
        jobs += [(kind, spec, layout) for layout in layouts_of(kind)]
    with ThreadPoolExecutor(2) as pool:
        bundles = pool.map(lambda job: mtc.compile(
            job[1], job[2], os.path.join(folder, f"{job[0]}-{job[2].name}"), jobs=1), jobs)
        return {(kind, layout): bundle
                for (kind, _, layout), bundle in zip(jobs, bundles)}


def main():
    mtc = GpuMtc(sys.argv[3]) if sys.argv[2:3] == ["--gpu"] else Mtc()
    report, start = Report(), time.monotonic()
    for counter, key, words in philox.KNOWN_ANSWERS:
        report.expect(philox.philox4x32(counter, key) == words,
                      f"Philox of {counter} has not the known answer")
    masks = Masks(report)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.bin")
        mask_model.write_data(data)
        bundles = compile_all(mtc, folder)
        print(f"compiled {len(bundles)} bundles in "
              f"{time.monotonic() - start:.1f} s", flush=True)
        for probe in probes():
            for layout in layouts_of(probe.kind):
                try:
                    steps = run(mtc, bundles[probe.kind, layout], probe, data,
                                os.path.join(folder, "run"))
                    for step, gradients in enumerate(steps, 1):
                        for what, mask in probe.read(gradients).items():
                            masks.check(layout, step, what, mask)
                except (Failed, mask_probes.Unclear) as failure:
                    report.expect(False, f"{layout.name}, {probe.name}: {failure}")
            print(f"{probe.name}: {masks.bits} bits so far, "
                  f"{time.monotonic() - start:.1f} s", flush=True)
    masks.check_differences()
    return report.finish(f"{len(masks.expected)} masks, {masks.bits} bits")


if __name__ == "__main__":
    sys.exit(main())
