//===- gemm_product.cpp - one product of cuBLASLt -------------------------===//

#include "runtime/device/cuda/gemm_product.h"

#include <algorithm>

#include <fmt/format.h>

using mtc::runtime::EpilogueInfo;
using mtc::runtime::GemmInfo;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {
namespace {

int typeOf(MtcDtype dtype) {
  return dtype == MTC_F32 ? kR32F : dtype == MTC_BF16 ? kR16BF : kR16F;
}

/// What the library demands, also of algorithms that need no workspace
/// (docs/h100.md).
constexpr int64_t kWorkspaceAlignment = 256;

/// Of the planned scratch, wherever it begins.
size_t workspaceOf(const GemmInfo &row) {
  return static_cast<size_t>(
      std::max<int64_t>(row.scratch - kWorkspaceAlignment, 0));
}

uint32_t epilogueOf(const EpilogueInfo &of) {
  return (of.bias ? kEpilogueBias : 0) | (of.gelu ? kEpilogueGelu : 0) |
         (of.aux ? kEpilogueAux : 0);
}

} // namespace

std::string describe(const GemmInfo &row) {
  const EpilogueInfo epilogue = row.epilogue.value_or(EpilogueInfo());
  return fmt::format(
      "{}{} x {}{}, m {}, n {}, k {}{}{}{}{}", row.ta ? "a^T" : "a",
      row.ab == MTC_F32    ? " (f32)"
      : row.ab == MTC_BF16 ? " (bf16)"
                           : " (f16)",
      row.tb ? "b^T" : "b", row.c == MTC_F32 ? " to f32" : " to 16 bits", row.m,
      row.n, row.k, row.beta ? ", added to c" : "",
      epilogue.bias ? ", with bias" : "", epilogue.gelu ? ", with GELU" : "",
      epilogue.aux ? " and what it is of" : "");
}

GemmOperands anyOperands() {
  GemmOperands x{};
  x.bias = x.aux = reinterpret_cast<void *>(kWorkspaceAlignment);
  return x;
}

GemmProduct::~GemmProduct() {
  for (MatrixLayout layout : {a_, b_, c_})
    if (layout)
      (void)blas_.destroyLayout(layout);
  if (desc_)
    (void)blas_.destroyDesc(desc_);
}

Status GemmProduct::create(const GemmInfo &row) {
  row_ = row;
  MTC_RETURN_IF_ERROR(blas_.check(blas_.createDesc(&desc_, kCompute32F, kR32F),
                                  "cublasLtMatmulDescCreate"));
  MTC_RETURN_IF_ERROR(set(kTransA, row_.tb ? kOpT : kOpN));
  MTC_RETURN_IF_ERROR(set(kTransB, row_.ta ? kOpT : kOpN));
  if (row_.epilogue)
    MTC_RETURN_IF_ERROR(set(kEpilogue, epilogueOf(*row_.epilogue)));
  // Dense as c: n elements from column to column of the library's.
  if (row_.epilogue && row_.epilogue->aux)
    MTC_RETURN_IF_ERROR(set(kAuxStride, row_.n));
  MTC_RETURN_IF_ERROR(layout(a_, row_.ab, row_.tb ? row_.n : row_.k,
                             row_.tb ? row_.k : row_.n));
  MTC_RETURN_IF_ERROR(layout(b_, row_.ab, row_.ta ? row_.k : row_.m,
                             row_.ta ? row_.m : row_.k));
  return layout(c_, row_.c, row_.m, row_.n);
}

template <typename T>
Status GemmProduct::set(int attribute, const T &value) const {
  return blas_.check(blas_.setDesc(desc_, attribute, &value, sizeof value),
                     "cublasLtMatmulDescSetAttribute");
}

/// The bias and aux of a call, which the descriptor has.
Status GemmProduct::point(const GemmOperands &x) const {
  if (!row_.epilogue)
    return Status::okay();
  if (row_.epilogue->bias)
    MTC_RETURN_IF_ERROR(set(kBiasPointer, x.bias));
  return row_.epilogue->aux ? set(kAuxPointer, x.aux) : Status::okay();
}

/// Of a dense row-major matrix.
Status GemmProduct::layout(MatrixLayout &out, MtcDtype dtype, int64_t rows,
                           int64_t cols) {
  return blas_.check(blas_.createLayout(&out, typeOf(dtype),
                                        static_cast<uint64_t>(cols),
                                        static_cast<uint64_t>(rows), cols),
                     "cublasLtMatrixLayoutCreate");
}

Status GemmProduct::prefer(MatmulPreference preference,
                           uint32_t alignment) const {
  const auto set = [&](int attribute, const auto &value) {
    return blas_.check(
        blas_.setPreference(preference, attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
  };
  MTC_RETURN_IF_ERROR(set(kMaxWorkspace, uint64_t(workspaceOf(row_))));
  MTC_RETURN_IF_ERROR(set(kReductionMask, kReduceInComputeType));
  for (int operand = 0; operand < 4; ++operand)
    MTC_RETURN_IF_ERROR(set(kAlignmentOfA + operand, alignment));
  return Status::okay();
}

Status GemmProduct::algorithms(BlasHandle handle, const GemmOperands &x,
                               uint32_t alignment, int most,
                               std::vector<MatmulAlgo> &out) const {
  MTC_RETURN_IF_ERROR(point(x));
  MatmulPreference preference = nullptr;
  MTC_RETURN_IF_ERROR(blas_.check(blas_.createPreference(&preference),
                                  "cublasLtMatmulPreferenceCreate"));
  std::vector<MatmulHeuristic> results(static_cast<size_t>(most));
  int found = 0;
  Status status = prefer(preference, alignment);
  if (status.ok())
    status =
        blas_.check(blas_.heuristic(handle, desc_, a_, b_, c_, c_, preference,
                                    most, results.data(), &found),
                    "cublasLtMatmulAlgoGetHeuristic", describe(row_));
  (void)blas_.destroyPreference(preference);
  MTC_RETURN_IF_ERROR(status);
  out.clear();
  for (int i = 0; i < found; ++i)
    if (const MatmulHeuristic &result = results[static_cast<size_t>(i)];
        result.state == 0)
      out.push_back(result.algo);
  if (!out.empty())
    return Status::okay();
  return {StatusCode::infeasible,
          fmt::format("expected an algorithm of cuBLASLt for the product {}, "
                      "with {} bytes of workspace, found none",
                      describe(row_), workspaceOf(row_))};
}

bool GemmProduct::takes(BlasHandle handle, const MatmulAlgo &algorithm) const {
  MatmulHeuristic result{};
  return point(anyOperands()).ok() &&
         blas_.checkAlgorithm(handle, desc_, a_, b_, c_, c_, &algorithm,
                              &result) == 0 &&
         result.state == 0 && result.workspace <= workspaceOf(row_);
}

Status GemmProduct::issue(BlasHandle handle, const MatmulAlgo &algorithm,
                          const GemmOperands &x, StreamHandle stream) const {
  MTC_RETURN_IF_ERROR(point(x));
  const float one = 1, beta = row_.beta ? 1 : 0;
  auto scratch = reinterpret_cast<uintptr_t>(x.scratch);
  scratch = (scratch + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
            kWorkspaceAlignment;
  BlasStatus status = blas_.matmul(
      handle, desc_, &one, x.b, a_, x.a, b_, &beta, x.c, c_, x.c, c_,
      &algorithm, reinterpret_cast<void *>(scratch), workspaceOf(row_), stream);
  return status == 0 ? Status::okay()
                     : blas_.check(status, "cublasLtMatmul", describe(row_));
}

} // namespace mtc::cuda
