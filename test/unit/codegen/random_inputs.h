//===- random_inputs.h - what random kernels are given ----------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_RANDOM_INPUTS_H
#define MTC_TEST_UNIT_CODEGEN_RANDOM_INPUTS_H

#include "evaluator.h"
#include "operand_count.h"

#include <random>

namespace mtc::test {

/// Stores get NaN, accumulations a number, inputs numbers in [-2, 2], row
/// indices -2 .. 5 (tables have 1 to 4 rows).
Buffer fill(std::mt19937 &rng, rt::KernelOp kernel, int64_t index,
            int64_t count);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_RANDOM_INPUTS_H
