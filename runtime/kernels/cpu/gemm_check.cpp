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
         " k=" + std::to_string(d.k) + (d.ta ? " ta" : "") +
         (d.tb ? " tb" : "") + " beta=" + std::to_string(d.beta) + " of " +
         nameOf(d.ab) + " into " + nameOf(d.c);
}

/// Whether products have operands of it.
static bool isOperand(MtcDtype dtype) {
  return dtype == MTC_F32 || dtype == MTC_BF16 || dtype == MTC_F16;
}

static Status checkTypes(const GemmDesc &d) {
  bool legal = isOperand(d.ab) && (d.c == MTC_F32 || d.c == d.ab);
  if (!legal)
    return {StatusCode::usage,
            "expected a product of f32 into f32, or of bf16 or f16 into f32 or "
            "the same, found " +
                describe(d)};
  return Status::okay();
}

static Status checkThreads(int threads) {
  if (threads < 1)
    return {StatusCode::usage, "expected at least 1 thread per rank, found " +
                                   std::to_string(threads)};
  return Status::okay();
}

static Status checkCounts(const GemmDesc &d) {
  if (d.counts && (!isOwn(d.kernel) || d.c != MTC_F32))
    return {StatusCode::usage,
            "expected a kernel of our own and a result in f32 where its "
            "squares are counted, found " +
                std::string(isOwn(d.kernel) ? "our own " : "the library's ") +
                describe(d)};
  return Status::okay();
}

Status checkGemm(const GemmDesc &d, int threads) {
  if (d.m < 1 || d.n < 1 || d.k < 1 || d.beta < 0 || d.beta > 1)
    return {StatusCode::usage,
            "expected a product with m, n, k >= 1 and beta 0 or 1, found " +
                describe(d)};
  MTC_RETURN_IF_ERROR(checkThreads(threads));
  MTC_RETURN_IF_ERROR(checkTypes(d));
  return checkCounts(d);
}

Status checkPacked(const PackedDesc &d, int threads) {
  if (d.n < 1 || d.k < 1 || !isOperand(d.type))
    return {StatusCode::usage,
            "expected an op(b) of f32, bf16 or f16 with n, k >= 1, found n=" +
                std::to_string(d.n) + " k=" + std::to_string(d.k) + " of " +
                nameOf(d.type)};
  return checkThreads(threads);
}

} // namespace mtc::runtime
