//===- gemm_product.h - one product of cuBLASLt -----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_GEMM_PRODUCT_H
#define MTC_RUNTIME_DEVICE_CUDA_GEMM_PRODUCT_H

#include "mtc/runtime/descriptor.h"
#include "runtime/device/cuda/blas.h"
#include "runtime/device/device.h"

#include <string>
#include <vector>

namespace mtc::cuda {

using runtime::GemmOperands;

/// For errors and tables: "a x b^T (bf16) to f32, m 8, n 16, k 32".
std::string describe(const runtime::GemmInfo &row);

/// Whether cuBLASLt rounds as contracts say. A product that is added to
/// 16-bit c it rounds first, and then the sum again (docs/h100.md); ours adds
/// in fp32 and rounds once.
inline bool isForLibrary(const runtime::GemmInfo &row) {
  return !row.beta || row.c == MTC_F32;
}

/// For questions about a product: of bias and aux the library looks whether
/// there are any, and at no more.
GemmOperands anyOperands();

/// What cuBLASLt keeps of one product. Row-major c = op(a)·op(b) is
/// column-major c^T = op(b)^T·op(a)^T: our b is its A, our a its B.
class GemmProduct {
public:
  explicit GemmProduct(const Blas &blas) : blas_(blas) {}
  GemmProduct(const GemmProduct &) = delete;
  GemmProduct &operator=(const GemmProduct &) = delete;
  ~GemmProduct();

  /// Once, before all else. Errors: infeasible, with the library's.
  runtime::Status create(const runtime::GemmInfo &row);
  /// Algorithms that add parts in fp32 and work with the planned scratch and
  /// with operands at multiples of `alignment` bytes: at most `most`, in the
  /// order in which the library expects them to be fast. Of `x` it looks at
  /// bias and aux. Errors: infeasible, where there is none.
  runtime::Status algorithms(BlasHandle handle, const GemmOperands &x,
                             uint32_t alignment, int most,
                             std::vector<MatmulAlgo> &out) const;
  /// Whether the library computes this product by an algorithm that somebody
  /// kept, with the planned scratch.
  bool takes(BlasHandle handle, const MatmulAlgo &algorithm) const;
  /// c = op(a)·op(b), plus c with `beta`, or with the row's epilogue, behind
  /// what is in `stream`.
  runtime::Status issue(BlasHandle handle, const MatmulAlgo &algorithm,
                        const GemmOperands &x, StreamHandle stream) const;

private:
  template <typename T>
  runtime::Status set(int attribute, const T &value) const;
  runtime::Status point(const GemmOperands &x) const;
  runtime::Status layout(MatrixLayout &out, MtcDtype dtype, int64_t rows,
                         int64_t cols);
  runtime::Status prefer(MatmulPreference preference, uint32_t alignment) const;

  const Blas &blas_;
  runtime::GemmInfo row_;
  MatmulDesc desc_ = nullptr;
  MatrixLayout a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_GEMM_PRODUCT_H
