//===- gemm_params.h - how the GEMM kernels are called ----------*- C++ -*-===//
//
// Shared by the kernels and by hosts that launch them: plain C++, no CUDA.
//
// c[m,n] = op(a)·op(b), or that + c, row-major, as mtc_gemm of abi.h means it:
// a is stored [m,k], or [k,m] if it is transposed, b [k,n] or [n,k]. Sums are
// in fp32, over k in ascending order; c is added in fp32, and a c of 16 bits
// rounded once. Without beta there may be an epilogue, in fp32, before sums are
// rounded: see mtc_gemm_epilogue. Nothing is added by atomics or split along k:
// equal calls give equal bits, on all devices of an architecture.
//
// Entries: mtc_gemm_TYPE_AB, TYPE f32, bf16 or f16 of a and b, A and B `n`, or
// `t` for an operand that is transposed. Of f32 products are FMAs, of others
// those of the tensor cores. Pointers and leading dimensions are aligned as
// elements are; it is faster if both are multiples of 16 bytes. c and aux
// meet no other operand.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_GEMM_GEMM_PARAMS_H
#define MTC_RUNTIME_CUDA_GEMM_GEMM_PARAMS_H

#include <cstdint>
#include <string>

namespace mtc::cuda {

/// The one parameter of every entry, by value.
struct GemmParams {
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc; ///< elements from one stored row to the next
  int32_t m, n, k;       ///< m, n >= 1, k >= 0
  int32_t beta;          ///< 1: adds to c, 0: does not read c
  int32_t wide;          ///< 1: c is fp32; 0: of the type of a and b
  /// Of c's type; null: none. bias has an element for each column.
  const void *bias;
  void *aux;
  int64_t ldaux;
  int32_t gelu; ///< 1: c is the GELU of the sum, with bias, that aux gets
};

/// Of c, that a block computes, and how many of k it takes at once.
struct GemmTile {
  int m, n, k;
  int threads; ///< of a block, along x
};
inline constexpr GemmTile kFloatTile = {128, 64, 16, 256};
inline constexpr GemmTile kHalfTile = {128, 128, 32, 128};

/// Blocks along x; no shared memory is dynamic. 0 if c has no element.
constexpr int64_t gemmBlocks(const GemmTile &tile, int64_t m, int64_t n) {
  return (m + tile.m - 1) / tile.m * ((n + tile.n - 1) / tile.n);
}

/// `type` is "f32", "bf16" or "f16".
inline std::string gemmEntry(const std::string &type, bool ta, bool tb) {
  return "mtc_gemm_" + type + "_" + (ta ? "t" : "n") + (tb ? "t" : "n");
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_GEMM_GEMM_PARAMS_H
