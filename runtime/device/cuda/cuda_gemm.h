//===- cuda_gemm.h - products on a GPU --------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H

#include "runtime/device/cuda/gemm_product.h"
#include "runtime/device/cuda/gemm_table.h"

#include <map>
#include <memory>

namespace mtc::cuda {

/// Products of a program through cuBLASLt. The algorithm of a row is that of a
/// table, or else the library's first guess of what the planned scratch and the
/// operands' alignment allow, when the row is called first.
class CudaGemms {
public:
  CudaGemms();
  CudaGemms(const CudaGemms &) = delete;
  CudaGemms &operator=(const CudaGemms &) = delete;
  ~CudaGemms();

  /// Once, before the first product, with the context of `gpu`, by its name,
  /// current. `table` is a file of `mtc tune`, or empty. Errors: infeasible,
  /// without the library; inputRejected and usage, where the file is none, or
  /// of another GPU or library.
  /// It must have all `rows` that the library computes, each with an algorithm
  /// that it takes.
  runtime::Status open(const std::vector<runtime::GemmInfo> &rows,
                       const std::string &table, const std::string &gpu);
  /// Issues c = op(a)·op(b), plus c with `beta`, or with the row's epilogue.
  /// Errors: infeasible, without an algorithm.
  runtime::Status issue(const runtime::GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream);

private:
  struct Chosen;
  runtime::Status checkTable(const std::vector<runtime::GemmInfo> &rows) const;
  /// What is wrong with the table's row of a product; empty: nothing.
  std::string problemOf(const runtime::GemmInfo &row) const;
  runtime::Status choose(const runtime::GemmInfo &row, const GemmOperands &x,
                         uint32_t alignment, Chosen &out) const;

  const Blas *blas_ = nullptr;
  BlasHandle handle_ = nullptr;
  std::string tableFile_;
  GemmTable table_;
  /// By row and alignment.
  std::map<std::pair<runtime::GemmInfo, uint32_t>, std::unique_ptr<Chosen>>
      products_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H
