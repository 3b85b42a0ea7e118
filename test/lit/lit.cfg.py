"""Tests of IR: every file runs mtc-opt and compares its output."""

import os

import lit.formats

config.name = "mtc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.mtc_binary_dir, "test", "lit")
path = [os.path.join(config.mtc_binary_dir, "bin"), config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(path + [os.environ["PATH"]])

# Plans whose products are oneDNN's are made where the library has kernels for them.
with open("/proc/cpuinfo", encoding="ascii", errors="replace") as text:
    if "avx512f" in text.read().split():
        config.available_features.add("avx512")

# Tests find the pass that gave invalid IR, not the one that crashed on it.
config.substitutions.append((r"\bmtc compile ", "mtc compile --verify-each "))

# MLIR's own threads, which verify functions side by side, meet in code that Thread
# Sanitizer does not see (libMLIR's atomics). mtc gives MLIR no
# threads in such a build, so its jobs run one after the other.
if config.mtc_sanitize == "thread":
    config.substitutions.append((r"\bmtc-opt ", "mtc-opt --mlir-disable-threading "))
