//===- float_bits.h - where integers are bits of a float --------*- C++ -*-===//
//
// An integer instruction that reads the bits of a float may round it: adding
// 32,767 and shifting by 16 makes a bf16 of an f32.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_KERNELS_FLOAT_BITS_H
#define MTC_TEST_CUDA_KERNELS_FLOAT_BITS_H

#include <set>
#include <string>
#include <vector>

namespace mtc::test {

struct FloatBits {
  /// Lines, from 1, that read a register that may have bits of a float: one
  /// that an instruction of floats writes or reads, that is loaded, other than
  /// a parameter, or that is made of such. The order of lines is not asked.
  std::set<int> readers;
  /// Of these, the ones that cut such a register into parts of which the kernel
  /// reads one nowhere.
  std::set<int> cutters;
};

FloatBits floatBitsOf(const std::vector<std::string> &lines);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_FLOAT_BITS_H
