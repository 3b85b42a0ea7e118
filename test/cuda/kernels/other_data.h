//===- other_data.h - the same case on other data ---------------*- C++ -*-===//
//
// A case has one set of data, for which it is known what comes out: numbers of
// one magnitude with 8 bits each. Two kernels are compared on many more.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_KERNELS_OTHER_DATA_H
#define MTC_TEST_CUDA_KERNELS_OTHER_DATA_H

#include "kernel_case.h"

#include <random>

namespace mtc::test {

/// What its floats are; numbers that are NaN before stay NaN in most.
enum class DataKind {
  permuted, ///< those of the case in another order, times a power of two
  precise,  ///< of the case's magnitude, with all bits of a fraction
  wide,     ///< of magnitudes from 2^-24 to 2^24
  huge,     ///< of all magnitudes, subnormals among them
  tiny,     ///< near zero: from 2^-40 to 2^-3
  few,      ///< of three values: ties
  large,    ///< from 1 to 128: where e^x and tanh saturate
  special,  ///< zeros of both signs, infinities, NaN, one, the largest
  zeros,    ///< nearly all zeros, of one sign in each operand
};
constexpr int kDataKinds = 9;

/// Rows of tables, seeds and samples change, too. What has to come out is not
/// known.
KernelCase withOtherData(KernelCase c, DataKind kind, std::mt19937 &rng);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_KERNELS_OTHER_DATA_H
