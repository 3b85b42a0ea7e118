//===- evaluator.h - kernel bodies in double precision ----------*- C++ -*-===//
//
// Interprets an rt.kernel scalar by scalar, row by row, in the order of its
// body: the meaning of a kernel, with no schedule, vector or compiled code.
// Numbers are doubles (exact for fp32 inputs); integers wrap like the
// machine's.
//
// Every float carries a bound of the error that fp32 code may make (running
// error analysis: N. Higham, "Accuracy and Stability of Numerical Algorithms",
// section 3.3): u = 2^-24 for a rounded operation, 4 units in the last place
// for an elementary function, cols·u times the sum of magnitudes for a row sum
// in any order, and what the operation makes of its operands' errors.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_CODEGEN_EVALUATOR_H
#define MTC_TEST_UNIT_CODEGEN_EVALUATOR_H

#include "dialects/rt/Rt.h"

#include <string>
#include <vector>

namespace mtc::test {

/// A number of a kernel: `f` for floats (bf16 is rounded when truncated), `i`
/// for integers, zero-extended from their width.
struct Number {
  double f = 0;
  uint64_t i = 0;
  double error = 0; ///< bound of |fp32 result - f|, to first order
};

/// One operand's elements. Floats are held in double.
struct Buffer {
  std::vector<Number> elements;
};

/// Runs `kernel` on `operands` in place. `cols` replaces dynamic columns.
/// Returns an error text, empty if all operations are known.
std::string evaluate(rt::KernelOp kernel, std::vector<Buffer> &operands,
                     const std::vector<int64_t> &args, int64_t cols);

/// To the nearest bf16, ties to even.
double roundToBf16(double v);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_EVALUATOR_H
