//===- Gemm.h - a contraction as one GEMM -----------------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_GEMM_H
#define MTC_PASSES_PLAN_GEMM_H

#include "dialects/tfm/Tfm.h"

#include <optional>

namespace mtc::passes {

/// result[m, n] = op(a)[m, k] · op(b)[k, n], row-major. With `swapped`, a is
/// the einsum's right operand.
struct GemmForm {
  int64_t m = 1, n = 1, k = 1;
  bool ta = false, tb = false, swapped = false;
};

/// None if the letters do not fall into contiguous groups.
std::optional<GemmForm> gemmForm(tfm::EinsumOp op);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_GEMM_H
