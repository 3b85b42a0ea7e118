//===- assignment.h - what is written before it is read ---------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_ASSIGNMENT_H
#define MTC_TEST_CUDA_PTX_DECODE_ASSIGNMENT_H

#include "test/cuda/ptx/decode/frame.h"

namespace mtc::ptx {

/// Registers of one instruction, by their numbers in the function.
struct RegisterUse {
  std::vector<uint32_t> reads, writes;
  /// Read and written, or written only, as the instruction finds when it runs.
  std::vector<uint32_t> sums = {};
  std::vector<uint32_t> left = {}; ///< A of a product, also among `reads`
  int64_t guard = -1;              ///< not among `reads`
};

/// Registers that are written on every way to each instruction that reads them
/// cost nothing at run time. The others are followed: instructions that read or
/// write them become tracked, with masks of `frame`.
void trackUnwritten(const Function &function,
                    const std::vector<RegisterUse> &uses, Frame &frame,
                    Code &code);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_ASSIGNMENT_H
