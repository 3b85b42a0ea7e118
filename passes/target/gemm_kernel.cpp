//===- gemm_kernel.cpp - what computes a product --------------------------===//
#include "passes/target/gemm_kernel.h"

#include "dialects/mtc/Mtc.h"
#include "passes/target/gemm_rows.h"

using namespace mlir;

namespace mtc::target {

/// How much longer than a result's sides a sum is that counts as long.
static constexpr int64_t kLong = 16;

/// What is measured (test/bench/gemm): oneDNN 2.6 converts operands of f16,
/// and those of bf16 where it has no instruction for them, and its matmul is
/// slower where op(a) is transposed (gradients of weights) and where a sum is
/// long (the gradient of what the head reads).
static bool isFasterByOwn(const runtime::GemmInfo &row, StringRef isa) {
  if (row.ab == MTC_F16 || (row.ab == MTC_BF16 && isa != "x86-64-v4-bf16"))
    return true;
  return row.ta || row.k >= kLong * std::max(row.m, row.n);
}

std::optional<rt::GemmKernel> gemmKernel(rt::GemmOp op) {
  FailureOr<ConfigAttr> config = configOf(op->getParentOfType<ModuleOp>());
  if (failed(config))
    return std::nullopt;
  TargetAttr target = config->getTarget();
  StringRef isa = target.getIsa() ? target.getIsa().getValue() : StringRef();
  bool isOwn =
      target.getGemm() == GemmChoice::Own ||
      (target.getGemm() == GemmChoice::Auto && isFasterByOwn(gemmRow(op), isa));
  return isOwn ? std::optional(rt::GemmKernel::Own) : std::nullopt;
}

} // namespace mtc::target
