//===- reduction.h - what several ranks' elements become --------*- C++ -*-===//
//
// As a ring of the real library adds (test/golden/cuda/nccl.json): a chain in
// rank order, from a rank that depends on the element's chunk, rounded to the
// type behind each step.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_REDUCTION_H
#define MTC_TEST_CUDA_NCCL_REDUCTION_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtc::standin::nccl {

/// Elements of a chunk, whose chain begins at one rank.
constexpr size_t kChunkElements = 1024;

struct Reduction {
  int32_t type = 0, op = 0;
  /// What each rank gives, `count` elements.
  std::vector<const std::byte *> inputs;
  size_t count = 0;
  size_t first = 0; ///< number of the first element in its buffer
  /// The chain of chunk k begins at rank (k + shift) mod ranks, or, of a
  /// reduce-scatter, always at `shift`.
  uint64_t shift = 0;
  bool oneChain = false;
};

/// Writes `count` elements. `to` is none of the inputs. Types and ops are those
/// of checkCall.
void reduce(const Reduction &reduction, std::byte *to);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_REDUCTION_H
