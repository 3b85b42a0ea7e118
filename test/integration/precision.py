"""Options of `mtc compile` for the types to compute in, on this machine."""


def has_flag(flag):
    """A flag of this processor (/proc/cpuinfo)."""
    with open("/proc/cpuinfo") as file:
        return any(flag in line.split() for line in file if line.startswith("flags"))


def options(dtype):
    """bf16 products are emulated where the processor has no unit for them: slower,
    and the plan says so by its instruction set."""
    if dtype == "bf16" and not has_flag("avx512_bf16"):
        return ["--dtype", dtype, "--isa", "x86-64-v4"]
    return ["--dtype", dtype]
