"""Options of `mtc compile` for the types to compute in, on this machine."""


def has_flag(flag):
    """A flag of this processor (/proc/cpuinfo)."""
    with open("/proc/cpuinfo") as file:
        return any(flag in line.split() for line in file if line.startswith("flags"))


def library_has(dtype):
    """Whether oneDNN has kernels for plans in this type here: those whose memory is planned."""
    return has_flag("avx512_bf16" if dtype == "bf16" else "avx512f")


# What computes in bf16 and sums gradients in it, too.
SUMS = "bf16-sums"
FP16_SUMS = "fp16-sums"


def options(dtype):
    """bf16 products widen their operands where the processor has no unit for them: slower,
    and the plan says so by its instruction set."""
    if dtype == SUMS:
        return [*options("bf16"), "--grad-dtype", "bf16"]
    if dtype == FP16_SUMS:
        return [*options("fp16"), "--grad-dtype", "fp16"]
    if dtype == "bf16" and not has_flag("avx512_bf16"):
        return ["--dtype", dtype, "--isa", "x86-64-v4"]
    return ["--dtype", dtype]
