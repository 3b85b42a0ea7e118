"""Tests of programs for the CPU, with programs for a GPU: these run under the stand-ins of
driver, cuBLASLt and NCCL, which execute every kernel from the PTX that a GPU would get."""

import os
import tempfile

from run_layout import Failed, Mtc

TARGET = ("--target", "cuda:sm_90")


class GpuMtc(Mtc):
    """Compiles for a GPU, and lets ranks exchange by NCCL. Whatever the stand-ins say, a race,
    bytes that nobody wrote, an answer of a library that is no success, is a failure."""

    def __init__(self, stand_ins):
        super().__init__()
        self.said = os.path.join(tempfile.mkdtemp(), "said")
        os.environ.update(LD_LIBRARY_PATH=os.path.abspath(stand_ins), MTC_STANDIN_REPORT=self.said,
                          MTC_STANDIN_ALLOW="duplicate_gpu")

    def call(self, *arguments, **keywords):
        done = super().call(*arguments, **keywords)
        if os.path.exists(self.said):
            with open(self.said) as file:
                raise Failed(f"{' '.join(map(str, arguments))}: the stand-ins say: {file.read()}")
        return done

    def compile(self, spec, layout, bundle, options=(), jobs=2):
        return super().compile(spec, layout, bundle, (*options, *TARGET), jobs)

    def run(self, bundle, recipe, folder, comm=(), dumps=(), extra=()):
        return super().run(bundle, recipe, folder, ("nccl",), dumps, extra)
