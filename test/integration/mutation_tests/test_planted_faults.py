"""Planted faults are caught by the compiler or by the comparison with the
goldens, and the same IR without them passes both.

A fault is an edit of the saved IR of a real compilation (faults.py), continued with
`mtc compile --from`. Numbers are compared by test_goldens.py's own functions.

usage: test_planted_faults.py BIN_DIR GOLDEN_DIR [part of a fault's name]
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import safetensors
import test_goldens
from faults import FAULTS
from ir_edit import on_bytes
from run_layout import Failed, Mtc, Report, without_locations

SPEC, GOLDEN = "gpt2-nano-nodrop", "tied-1"


class Bench:
    """A compiled model with its IR, and ways to go on from an edit of it."""

    def __init__(self, mtc, layout, goldens, folder):
        self.mtc, self.folder = mtc, folder
        os.mkdir(folder)
        self.golden = os.path.join(goldens, "gpt2", GOLDEN)
        self.ir = os.path.join(folder, "ir")
        self.mtc.call("compile", SPEC, *layout.options(), "--save-ir", self.ir,
                      "--compile-to", "verify-plan", "-o", self.path("verified.mlir"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def saved(self, phase):
        (name,) = [n for n in os.listdir(self.ir)
                   if re.fullmatch(rf"\d\d-{phase}\.mlir", n)]
        with open(os.path.join(self.ir, name)) as file:
            return without_locations(file.read())

    def rejection(self, file, phase):
        """What `mtc compile` says when it goes on from `phase` up to verify-plan;
        None if it finds no fault. A crash is not a rejection."""
        result = self.mtc.call("compile", file, "--from", phase, "--compile-to",
                               "verify-plan", "-o", self.path("planned.mlir"), check=False)
        if result.returncode < 0 or result.returncode > 127:
            raise Failed(f"the compiler crashed with {result.returncode}")
        return result.stderr if result.returncode else None

    def bundle(self, file, phase):
        """Programs without a look at the plan by verify-plan."""
        if phase != "plan-memory":
            planned = self.path("planned.mlir")
            self.mtc.call("compile", file, "--from", phase, "--compile-to",
                          "plan-memory", "-o", planned)
            file = planned
        bundle = self.path("bundle")
        shutil.rmtree(bundle, ignore_errors=True)
        self.mtc.call("compile", file, "--from", "plan-memory", "--no-verify", "--jobs", 1,
                      "-o", bundle)
        return bundle

    def disagreements(self, file, phase):
        """Sentences of the comparison with the golden, and bits of the run; a run
        that stops with an error disagrees in the words of the error."""
        report, out = Report(), self.path("run")
        shutil.rmtree(out, ignore_errors=True)
        bundle = self.bundle(file, phase)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                test_goldens.check_run(self.mtc, report, bundle, self.golden, out, "run")
        except Failed as failure:
            # The first line is the command; ranks that stop because another did
            # say nothing new.
            lines = str(failure).splitlines()[1:]
            return [line for line in lines if " aborted" not in line], "none"
        gradients = safetensors.read(os.path.join(out, "grads.safetensors"))
        return report.failures, safetensors.digest(gradients)

    def plant(self, fault):
        file = self.path("fault.mlir")
        text = self.saved(fault.phase)
        edited = on_bytes(text, fault.edit)
        if edited == text:
            raise Failed("the edit changed nothing")
        with open(file, "w") as out:
            out.write(edited)
        return file


def check_rejected(bench, report, fault, file):
    """The first line of the error, if the right phase says the right thing."""
    error = bench.rejection(file, fault.phase)
    if not report.expect(error is not None, f"{fault.name}: expected a rejection by "
                         f"{fault.caught_by}, found none"):
        return "NOT CAUGHT"
    rejected = re.search(r"phase ([\w-]+) rejected", error)
    by = rejected.group(1) if rejected else "nobody"
    report.expect(by == fault.caught_by, f"{fault.name}: expected {fault.caught_by} "
                  f"to reject, found {by}: {error.strip()[:300]}")
    lines = [line for line in error.splitlines()[1:] if fault.says in line]
    if not report.expect(lines, f"{fault.name}: expected a line with '{fault.says}' of "
                         f"{by}, found: {error.strip()[:600]}"):
        return "for another reason"
    return re.sub(r"^.*?error: ", "", lines[0]).strip()


def check_seen(bench, report, fault, file, clean_bits):
    failures, bits = bench.disagreements(file, fault.phase)
    if fault.by_bits:
        report.expect(bits != clean_bits and not failures, f"{fault.name}: expected "
                      "other bits only, found the same ones or more than that: "
                      f"{failures}")
        return "equal bits (contract N4)", "gradients of step 1 differ"
    seen = [f for f in failures if fault.seen_in in f]
    if not report.expect(seen, f"{fault.name}: expected the golden to disagree in "
                         f"'{fault.seen_in}', found {failures or 'agreement'}"):
        return "golden", "NOT CAUGHT"
    return "run" if bits == "none" else "golden", seen[0].removeprefix("run: ")


def check_fault(bench, report, fault, clean_bits):
    """Prints one row per catcher."""
    rows = []
    try:
        file = bench.plant(fault)
        if fault.caught_by:
            rows.append((fault.caught_by, check_rejected(bench, report, fault, file)))
        if fault.seen_in or fault.by_bits:
            rows.append(check_seen(bench, report, fault, file, clean_bits))
    except (Failed, subprocess.TimeoutExpired) as failure:
        report.expect(False, f"{fault.name}: {failure}")
    for by, figure in rows:
        print(f"{fault.number:2} | {fault.name:38} | {fault.phase:15} | {by:24} | "
              f"{figure[:150]}", flush=True)


def check_clean(bench, report, phases):
    """The control: the IR as it was saved passes what the faults must not pass."""
    bits = set()
    for phase in phases:
        file = bench.path("clean.mlir")
        with open(file, "w") as out:
            out.write(bench.saved(phase))
        error = bench.rejection(file, phase)
        report.expect(error is None, f"unedited IR of {phase} is rejected: {error}")
        failures, found = bench.disagreements(file, phase)
        report.expect(not failures, f"unedited IR of {phase}: {failures}")
        bits.add(found)
        print(f" - | {'none':38} | {phase:15} | {'nobody':24} | "
              f"{len(failures)} disagreements", flush=True)
    report.expect(len(bits) == 1, "expected the same gradients from the IR of every "
                  f"phase, found {len(bits)} different ones")
    return found


def main():
    report = Report()
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    faults = [fault for fault in FAULTS if part in fault.name]
    print("no | fault | edited phase | caught by | figure")
    with tempfile.TemporaryDirectory() as folder:
        for layout in sorted({fault.layout for fault in faults}, key=lambda of: of.name):
            bench = Bench(Mtc(), layout, sys.argv[2], os.path.join(folder, layout.name))
            planted = [fault for fault in faults if fault.layout == layout]
            phases = sorted({fault.phase for fault in planted})
            clean_bits = check_clean(bench, report, phases)
            for fault in planted:
                check_fault(bench, report, fault, clean_bits)
    numbers = {fault.number for fault in faults}
    report.expect(part or numbers == set(range(1, 12)), "expected faults 1 to 11, "
                  f"found {sorted(numbers)}")
    return report.finish(f"{len(faults)} faults planted")


if __name__ == "__main__":
    sys.exit(main())
