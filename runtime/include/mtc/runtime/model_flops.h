//===- model_flops.h - what a model computes --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_MODEL_FLOPS_H
#define MTC_RUNTIME_MODEL_FLOPS_H

#include <cstdint>

namespace mtc::runtime {

/// Floating-point operations of the model, of forward and backward: products
/// (two for each pair of factors) and attention in full, also where a mask
/// leaves half of it out; the backward twice the forward; nothing that is
/// computed again. For a GPT of L layers of width h, samples of s tokens and a
/// vocabulary of V: 72·L·h²·(1 + s/(6h) + V/(12·h·L)) a token, as Megatron-LM
/// counts them.
struct ModelFlops {
  int64_t seq = 0; ///< tokens of a sample
  double perToken = 0;
};

inline constexpr char kFlopsRule[] =
    "products and attention of the forward, in full under a mask, x 3; nothing "
    "that is computed again";

} // namespace mtc::runtime
#endif // MTC_RUNTIME_MODEL_FLOPS_H
