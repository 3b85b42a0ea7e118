#!/usr/bin/env python3
"""Ranks on several GPUs.

usage: test_devices.py BIN_DIR STAND_INS

A tiny model trains on as many GPUs as the stand-in of the driver shows. It tells on which of them
each rank's operations ran, and refuses what is used where the context of another GPU is current,
so a rank that forgets its own is found. Ranks on two GPUs have the bits of ranks that share one:
over NCCL, and as threads of one process, which then has the contexts of both.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from test_bundles import COMMUNICATION, INFEASIBLE, TARGET, TINY, Tester
from layouts import Layout
from run_layout import Failed, Mtc, Report
from small_spec import small_spec

LINE = r"cuda stand-in: (.*) ran operations on (.*)\n"
LOADED = "cuda stand-in: loaded modules for %s and refused 0 cubins\n"


class Devices(Tester):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.spec = os.path.join(self.folder, "tiny.toml")
        with open(self.spec, "w") as file:
            file.write(small_spec(tied=True, **TINY))

    def bundle(self, dtype, layout, *target):
        return self.compile(dtype, layout, *(target or TARGET), spec=self.spec)

    def check(self, name, bundle, gpus, places, *options, expected=None, also=(), **environment):
        """Losses, norms and gradients; the stand-in says who ran where, `places`, and `also` some lines."""
        said = os.path.join(self.folder, name, "said")
        found = self.run(bundle, name, *options, says="(?s).*", LD_LIBRARY_PATH=self.stand_ins, MTC_STANDIN_SEED="3",
                         MTC_STANDIN_DEVICES=str(gpus), MTC_STANDIN_GPUS="1", MTC_STANDIN_IDLE="0.1", **environment)
        with open(said) as file:
            lines = file.readlines()
        told = {line[1]: line[2] for line in map(re.compile(LINE).fullmatch, lines) if line}
        others = sorted(line for line in lines if not re.fullmatch(LINE, line))
        self.report.expect(told == places and others == sorted(also) and len(lines) == len(places) + len(also),
                           f"{name}: expected operations on {places}, the stand-ins say: {lines}")
        if expected:
            self.report.expect(found == expected, f"{name}: expected the bits of one GPU, {expected[:2]}, found {found[:2]}")
        return found

    def refused(self, name, bundle, gpus, code, words, *options):
        done = subprocess.run([self.mtc.program, "run", bundle, "--quiet", "--data", self.data, "--data-type", "u8",
                               "--steps", "1", *options], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, LD_LIBRARY_PATH=self.stand_ins, MTC_STANDIN_DEVICES=str(gpus)))
        self.report.expect(done.returncode == code and words in done.stderr,
                           f"{name}: expected exit {code} and '{words}', found {done.returncode}: {done.stderr}")


def check_two(tester):
    """Each rank its own GPU, in the order of their numbers, unless somebody shows them in another."""
    own = {"rank 0": "GPU 0", "rank 1": "GPU 1"}
    one = dict.fromkeys(own, "GPU 0")
    bundle = tester.bundle("bf16", Layout(dp=2, zero=1, overlap="grad-reduce,param-gather", bucket=800))
    shared = tester.check("one-dp", bundle, 1, one, MTC_STANDIN_ALLOW="duplicate_gpu")
    tester.check("two-dp", bundle, 2, own, expected=shared)
    tester.check("threads-dp", bundle, 2, {"this process": "GPU 0 and GPU 1"}, "--comm", "threads", expected=shared)
    bundle = tester.bundle("f32", Layout(tp=2))
    shared = tester.check("one-tp", bundle, 1, one, MTC_STANDIN_ALLOW="duplicate_gpu")
    tester.check("picked-tp", bundle, 4, {"rank 0": "GPU 3", "rank 1": "GPU 1"}, expected=shared, CUDA_VISIBLE_DEVICES="3,1")
    tester.check("by-number", bundle, 2, dict.fromkeys(own, "GPU 1"), "--device", "1", "--comm", "shm", expected=shared)
    tester.refused("no such GPU", bundle, 2, INFEASIBLE, "--device 2: expected one of the 2 that the driver shows, 0 to 1",
                   "--device", "2", "--comm", "shm")


def check_more_ranks(tester):
    """Ranks beyond the GPUs begin with the first again, which NCCL does not allow; each has the code of its own GPU."""
    bundle = tester.bundle("f32", Layout(dp=4), "--target", "cuda:sm_80,sm_90")
    places = {"rank 0": "GPU 0", "rank 1": "GPU 1", "rank 2": "GPU 2", "rank 3": "GPU 0"}
    older, newer = (LOADED % chips for chips in ("sm_80", "sm_80, sm_90"))  # the norm is of sm_80
    tester.check("wrapped", bundle, 3, places, "--comm", "shm", also=[older, newer, newer, newer],
                 MTC_STANDIN_CAPABILITY="90,80,90", MTC_STANDIN_MODULES="1")
    tester.refused("wrapped over NCCL", bundle, 3, COMMUNICATION, "NCCL needs a GPU for each rank")


def main():
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        tester = Devices(Mtc(), report, os.path.abspath(sys.argv[2]), folder)
        check_two(tester)
        check_more_ranks(tester)
    return report.finish("ranks on several GPUs")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"failed: {failed}")
