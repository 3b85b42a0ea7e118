//===- gemm_check.cpp - legal products ------------------------------------===//
#include "runtime/kernels/cpu/gemm_check.h"

namespace mtc::runtime {

static std::string nameOf(MtcDtype dtype) {
  return dtype == MTC_F32    ? "f32"
         : dtype == MTC_BF16 ? "bf16"
         : dtype == MTC_F16  ? "f16"
                             : "dtype " + std::to_string(int(dtype));
}

std::string describe(const GemmDesc &d) {
  return "m=" + std::to_string(d.m) + " n=" + std::to_string(d.n) +
         " k=" + std::to_string(d.k) + " beta=" + std::to_string(d.beta) +
         " of " + nameOf(d.ab) + " into " + nameOf(d.c);
}

static Status checkTypes(const GemmDesc &d) {
  bool isHalf = d.ab == MTC_BF16 || d.ab == MTC_F16;
  bool legal = (d.ab == MTC_F32 || isHalf) && (d.c == MTC_F32 || d.c == d.ab);
  if (!legal)
    return {StatusCode::usage,
            "expected a product of f32 into f32, or of bf16 or f16 into f32 or "
            "the same, found " +
                describe(d)};
  return Status::okay();
}

Status checkGemm(const GemmDesc &d, int threads) {
  if (d.m < 1 || d.n < 1 || d.k < 1 || d.beta < 0 || d.beta > 1)
    return {StatusCode::usage,
            "expected a product with m, n, k >= 1 and beta 0 or 1, found " +
                describe(d)};
  if (threads < 1)
    return {StatusCode::usage, "expected at least 1 thread per rank, found " +
                                   std::to_string(threads)};
  return checkTypes(d);
}

} // namespace mtc::runtime
