//===- access_counter.h - what a kernel's code reads and writes -*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_ACCESS_COUNTER_H
#define MTC_TEST_UNIT_CODEGEN_ACCESS_COUNTER_H

#include "dialects/rt/Rt.h"
#include "passes/codegen/kernel_function.h"

#include <optional>
#include <vector>

namespace mtc::test {

/// How often each element of an operand is accessed by all threads together.
struct OperandAccesses {
  std::vector<int> reads, writes;
};

/// Walks through the loops that codegen-kernels emits for `kernel`, iteration
/// by iteration, as each of `vectors.threads` threads does, and counts the
/// lanes of loads and stores by the function's parameter that they are of. It
/// knows places, not values: integers that are loaded are 0, and so are the
/// kernel's arguments. None, and a failed test, where something depends on a
/// value that it does not know, where memory is touched by an op that it does
/// not know, or outside of an operand.
std::optional<std::vector<OperandAccesses>>
countAccesses(rt::KernelOp kernel, const codegen::CpuVectors &vectors);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_ACCESS_COUNTER_H
