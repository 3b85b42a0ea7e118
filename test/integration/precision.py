"""Options of `mtc compile` for the types to compute in, on this machine."""

import os


def hides_avx512():
    """Whether the C library is told to hide AVX-512 (CONTRIBUTING.md), which mtc then does not use."""
    return "-AVX512F" in os.environ.get("GLIBC_TUNABLES", "")


def has_flag(flag):
    """A flag of this processor (/proc/cpuinfo) that is not hidden."""
    if hides_avx512() and flag.startswith(("avx512", "amx")):
        return False
    with open("/proc/cpuinfo") as file:
        return any(flag in line.split() for line in file if line.startswith("flags"))


def library_has(dtype):
    """Whether oneDNN has kernels for plans in this type here: those whose memory is planned."""
    return has_flag("avx512_bf16" if dtype == "bf16" else "avx512f")


# What computes in bf16 and sums gradients in it, too.
SUMS = "bf16-sums"
FP16_SUMS = "fp16-sums"


def options(dtype):
    """Products of bf16 widen their operands where the processor has no unit for them: slower, and the plan says so
    by its instruction set."""
    if dtype == SUMS:
        return [*options("bf16"), "--grad-dtype", "bf16"]
    if dtype == FP16_SUMS:
        return [*options("fp16"), "--grad-dtype", "fp16"]
    return ["--dtype", dtype]
