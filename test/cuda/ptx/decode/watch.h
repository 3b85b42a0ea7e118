//===- watch.h - registers that a wgmma has ---------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_WATCH_H
#define MTC_TEST_CUDA_PTX_DECODE_WATCH_H

#include "test/cuda/ptx/decode/assignment.h"

namespace mtc::ptx {

/// Registers of D and A of products become Code::watched, and instructions that
/// read or write one, but for products, watched.
void watchProducts(const Function &function,
                   const std::vector<RegisterUse> &uses, Code &code);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_WATCH_H
