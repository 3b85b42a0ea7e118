//===- attention_reference.h - attention in double, for tests ---*- C++ -*-===//
#ifndef MTC_TEST_UNIT_KERNELS_ATTENTION_REFERENCE_H
#define MTC_TEST_UNIT_KERNELS_ATTENTION_REFERENCE_H

#include "mtc/runtime/abi.h"

#include <cstdint>
#include <vector>

namespace mtc::test {

/// The sizes that a test chooses; strides follow from the layout.
struct Sizes {
  int64_t batch = 1, seq = 1, heads = 1, kvHeads = 1, dim = 4;
  bool causal = true;
  double dropout = 0;
  MtcDtype dtype = MTC_F32;
};

enum class Layout {
  dense,  ///< q, k, v, out each [b, s, heads, hd]
  fused,  ///< q, k, v inside one [b, s, heads, 3, hd]
  padded, ///< as dense with gaps after each head and token
};

/// Inputs, outputs and gradients of one call, all gaps holding kGap. Values are
/// held as floats; with 16 bits they are such, and the calls get them as such.
struct Problem {
  static constexpr float kGap = -776.0f; ///< a bf16 and f16
  MtcAttention shape{};
  uint64_t seed = 99;
  int64_t sample = 5, head = 2;
  int32_t threads = 0;       ///< of the rank, as MtcContext has them
  int64_t begin[2] = {0, 0}; ///< positions of the two ranges of queries
  /// With the fused layout qkv holds all three; else q, k, v follow each other.
  std::vector<float> qkv, dqkv, out, dout, lse;
  std::vector<int32_t> documents;    ///< empty: none
  int64_t qAt = 0, kAt = 0, vAt = 0; ///< offsets in qkv and dqkv

  Problem(const Sizes &sizes, Layout layout, unsigned randomSeed = 1);
  const int32_t *starts() const {
    return documents.empty() ? nullptr : documents.data();
  }
  /// Runs the library; `ctx->status` must stay 0.
  void forward();
  void backward();
};

/// Values of a strided tensor [b, s, heads, hd] as dense doubles, and what the
/// terms of each element add up to without their signs: if each probability, or
/// its gradient, is off by a part u of it, the element is by u times that.
struct Reference {
  std::vector<double> out, lse, dq, dk, dv;
  std::vector<double> outSize, dqSize, dkSize, dvSize;
};

/// The definition, with the full matrix of probabilities. With 16 bits,
/// gradients are those for the rounded `p.out`, which is what the backward call
/// gets.
Reference reference(const Problem &p);

/// Dense copy of a tensor of `p` (offsets and strides as in MtcAttention).
std::vector<double> dense(const Problem &p, const float *x, int64_t heads,
                          int64_t tokenStride, int64_t headStride);

/// Largest |a - b| over the largest |b|.
double relativeError(const std::vector<double> &a,
                     const std::vector<double> &b);
/// The same where `allowed` is taken from each |a - b|.
double relativeError(const std::vector<double> &a, const std::vector<double> &b,
                     const std::vector<double> &allowed);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_KERNELS_ATTENTION_REFERENCE_H
