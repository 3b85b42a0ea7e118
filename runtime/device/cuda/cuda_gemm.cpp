//===- cuda_gemm.cpp - products on a GPU ----------------------------------===//

#include "runtime/device/cuda/cuda_gemm.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

using mtc::runtime::GemmInfo;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {
namespace {

int typeOf(MtcDtype dtype) {
  return dtype == MTC_F32 ? kR32F : dtype == MTC_BF16 ? kR16BF : kR16F;
}

/// The largest power of two, at most 256, that all addresses are multiples of.
uint32_t alignmentOf(const GemmOperands &x) {
  auto bits = reinterpret_cast<uintptr_t>(x.a) |
              reinterpret_cast<uintptr_t>(x.b) |
              reinterpret_cast<uintptr_t>(x.c) | 256;
  return uint32_t(1) << std::countr_zero(bits);
}

/// What the library demands, also of algorithms that need no workspace
/// (docs/h100.md).
constexpr int64_t kWorkspaceAlignment = 256;

/// Of the planned scratch, wherever it begins.
size_t workspaceOf(const GemmInfo &row) {
  return static_cast<size_t>(
      std::max<int64_t>(row.scratch - kWorkspaceAlignment, 0));
}

std::string describe(const GemmInfo &row) {
  return fmt::format("{}{} x {}{}, m {}, n {}, k {}{}", row.ta ? "a^T" : "a",
                     row.ab == MTC_F32    ? " (f32)"
                     : row.ab == MTC_BF16 ? " (bf16)"
                                          : " (f16)",
                     row.tb ? "b^T" : "b",
                     row.c == MTC_F32 ? " to f32" : " to 16 bits", row.m, row.n,
                     row.k, row.beta ? ", added to c" : "");
}

} // namespace

/// What cuBLASLt keeps of one product. Row-major c = op(a)·op(b) is
/// column-major c^T = op(b)^T·op(a)^T: our b is its A, our a its B.
class CudaGemms::Product {
public:
  explicit Product(const Blas &blas) : blas_(blas) {}
  Product(const Product &) = delete;
  Product &operator=(const Product &) = delete;
  ~Product() {
    for (MatrixLayout layout : {a_, b_, c_})
      if (layout)
        (void)blas_.destroyLayout(layout);
    if (desc_)
      (void)blas_.destroyDesc(desc_);
  }

  Status create(BlasHandle handle, const GemmInfo &row, uint32_t alignment) {
    row_ = row;
    MTC_RETURN_IF_ERROR(describeProduct());
    return choose(handle, alignment);
  }

  Status issue(BlasHandle handle, const GemmOperands &x, StreamHandle stream) {
    const float one = 1, beta = row_.beta ? 1 : 0;
    auto scratch = reinterpret_cast<uintptr_t>(x.scratch);
    scratch = (scratch + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
              kWorkspaceAlignment;
    BlasStatus status = blas_.matmul(
        handle, desc_, &one, x.b, a_, x.a, b_, &beta, x.c, c_, x.c, c_, &algo_,
        reinterpret_cast<void *>(scratch), workspaceOf(row_), stream);
    return status == 0 ? Status::okay()
                       : blas_.check(status, "cublasLtMatmul", describe(row_));
  }

private:
  Status describeProduct() {
    MTC_RETURN_IF_ERROR(
        blas_.check(blas_.createDesc(&desc_, kCompute32F, kR32F),
                    "cublasLtMatmulDescCreate"));
    const int ofA = row_.tb ? kOpT : kOpN, ofB = row_.ta ? kOpT : kOpN;
    MTC_RETURN_IF_ERROR(
        blas_.check(blas_.setDesc(desc_, kTransA, &ofA, sizeof ofA),
                    "cublasLtMatmulDescSetAttribute"));
    MTC_RETURN_IF_ERROR(
        blas_.check(blas_.setDesc(desc_, kTransB, &ofB, sizeof ofB),
                    "cublasLtMatmulDescSetAttribute"));
    MTC_RETURN_IF_ERROR(layout(a_, row_.ab, row_.tb ? row_.n : row_.k,
                               row_.tb ? row_.k : row_.n));
    MTC_RETURN_IF_ERROR(layout(b_, row_.ab, row_.ta ? row_.k : row_.m,
                               row_.ta ? row_.m : row_.k));
    return layout(c_, row_.c, row_.m, row_.n);
  }

  /// Of a dense row-major matrix.
  Status layout(MatrixLayout &out, MtcDtype dtype, int64_t rows, int64_t cols) {
    return blas_.check(blas_.createLayout(&out, typeOf(dtype),
                                          static_cast<uint64_t>(cols),
                                          static_cast<uint64_t>(rows), cols),
                       "cublasLtMatrixLayoutCreate");
  }

  Status choose(BlasHandle handle, uint32_t alignment) {
    MatmulPreference preference = nullptr;
    MTC_RETURN_IF_ERROR(blas_.check(blas_.createPreference(&preference),
                                    "cublasLtMatmulPreferenceCreate"));
    Status status = chooseBy(handle, preference, alignment);
    (void)blas_.destroyPreference(preference);
    return status;
  }

  Status chooseBy(BlasHandle handle, MatmulPreference preference,
                  uint32_t alignment) {
    const auto workspace = static_cast<uint64_t>(workspaceOf(row_));
    MTC_RETURN_IF_ERROR(
        blas_.check(blas_.setPreference(preference, kMaxWorkspace, &workspace,
                                        sizeof workspace),
                    "cublasLtMatmulPreferenceSetAttribute"));
    MTC_RETURN_IF_ERROR(blas_.check(
        blas_.setPreference(preference, kReductionMask, &kReduceInComputeType,
                            sizeof kReduceInComputeType),
        "cublasLtMatmulPreferenceSetAttribute"));
    for (int operand = 0; operand < 4; ++operand)
      MTC_RETURN_IF_ERROR(
          blas_.check(blas_.setPreference(preference, kAlignmentOfA + operand,
                                          &alignment, sizeof alignment),
                      "cublasLtMatmulPreferenceSetAttribute"));
    MatmulHeuristic best{};
    int found = 0;
    MTC_RETURN_IF_ERROR(
        blas_.check(blas_.heuristic(handle, desc_, a_, b_, c_, c_, preference,
                                    1, &best, &found),
                    "cublasLtMatmulAlgoGetHeuristic", describe(row_)));
    if (found == 0 || best.state != 0)
      return {StatusCode::infeasible,
              fmt::format("expected an algorithm of cuBLASLt for the product "
                          "{}, with {} bytes of workspace, found none",
                          describe(row_), workspaceOf(row_))};
    algo_ = best.algo;
    return Status::okay();
  }

  const Blas &blas_;
  GemmInfo row_;
  MatmulDesc desc_ = nullptr;
  MatrixLayout a_ = nullptr, b_ = nullptr, c_ = nullptr;
  MatmulAlgo algo_{};
};

CudaGemms::CudaGemms() = default;
CudaGemms::~CudaGemms() {
  products_.clear();
  if (handle_)
    (void)blas_->destroy(handle_);
}

Status CudaGemms::open() {
  MTC_RETURN_IF_ERROR(Blas::load(blas_));
  return blas_->check(blas_->create(&handle_), "cublasLtCreate");
}

Status CudaGemms::find(const GemmInfo &row, const GemmOperands &x,
                       Product *&out) {
  uint32_t alignment = alignmentOf(x);
  std::unique_ptr<Product> &product = products_[{row, alignment}];
  if (!product) {
    auto made = std::make_unique<Product>(*blas_);
    MTC_RETURN_IF_ERROR(made->create(handle_, row, alignment));
    product = std::move(made);
  }
  out = product.get();
  return Status::okay();
}

Status CudaGemms::issue(const GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream) {
  Product *product = nullptr;
  MTC_RETURN_IF_ERROR(find(row, x, product));
  return product->issue(handle_, x, stream);
}

} // namespace mtc::cuda
