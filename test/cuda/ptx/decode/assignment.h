//===- assignment.h - what is written before it is read ---------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_ASSIGNMENT_H
#define MTC_TEST_CUDA_PTX_DECODE_ASSIGNMENT_H

#include "test/cuda/ptx/decode/frame.h"

namespace mtc::ptx {

/// Registers that are written on every way to each instruction that reads them
/// cost nothing at run time. The others are followed: instructions that read or
/// write them become tracked, with masks of `frame`.
void trackUnwritten(const Function &function,
                    const std::vector<RegisterUse> &uses, Frame &frame,
                    Code &code);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_ASSIGNMENT_H
