//===- algorithm.h - what lies in a cublasLtMatmulAlgo_t --------*- C++ -*-===//
//
// An algorithm here is a way to split k, an epilogue family, and alignments
// that it wants. Which exist, and how many bytes they need, has the shape of
// what an H100 listed, not its values: a program must ask.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_ALGORITHM_H
#define MTC_TEST_CUDA_BLAS_ALGORITHM_H

#include "test/cuda/blas/problem.h"

#include <vector>

namespace mtc::standin::blas {

enum AlgorithmId : int32_t {
  kSingle = 20,  ///< f32 without tensor cores
  kTf32 = 21,    ///< f32 rounded to TF32
  kAnySize = 16, ///< 16 bits, whatever the alignment; PEDANTIC, too
  kTensor = 66,  ///< 16 bits
};

struct Algorithm {
  uint32_t magic;
  int32_t id;
  uint32_t tile, stages;
  int32_t split;      ///< parts of k; their sums are added afterwards
  uint32_t reduction; ///< cublasLtReductionScheme_t
  uint32_t swizzle, custom;
  uint16_t inner, cluster;
  uint8_t align[4]; ///< of A, B, C, D and their columns, in bytes
  uint8_t typeA, typeD;
  uint8_t compute;
  uint8_t family; ///< kAnyFamily: made by cublasLtMatmulAlgoInit
  uint32_t shape; ///< hash of what it was found for; 0: of nothing
  uint32_t sum;   ///< of the bytes before it

  bool isOurs() const; ///< and not bytes from elsewhere
  void seal();         ///< after a change
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

constexpr uint8_t kAnyFamily = 0xff;

Algorithm fromBytes(const cublasLtMatmulAlgo_t &bytes);
cublasLtMatmulAlgo_t toBytes(const Algorithm &algorithm);

/// Ids for types of A and D; empty: there are none.
std::vector<int32_t> idsFor(int32_t compute, int32_t typeA, int32_t typeD);
Algorithm makeAlgorithm(int32_t id, int32_t compute, int32_t typeA,
                        int32_t typeD);

struct Choice {
  Algorithm algorithm;
  size_t workspace;
};
/// What callers of the heuristic prefer.
struct Wish {
  size_t workspace = 0;
  uint32_t align[4] = {256, 256, 256, 256}; ///< of A, B, C, D
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};
/// Best first, at most 8.
std::vector<Choice> choices(const Problem &problem, const Wish &wish);

/// Whether the algorithm computes this, pointers apart: INVALID_VALUE for other
/// types, NOT_SUPPORTED for an epilogue, a leading dimension or a split that it
/// has no kernel for.
Verdict fits(const Algorithm &algorithm, const Problem &problem);
/// Whether the pointers are as aligned as it wants them.
Verdict fitsPointers(const Algorithm &algorithm, const Problem &problem);
/// Bytes that it needs for this.
size_t workspaceOf(const Algorithm &algorithm, const Problem &problem);

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_ALGORITHM_H
