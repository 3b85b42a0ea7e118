//===- cuda_gemm.h - products on a GPU --------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H

#include "runtime/device/cuda/gemm_choices.h"
#include "runtime/device/cuda/gemm_product.h"
#include "runtime/device/cuda/gemm_table.h"

#include <map>
#include <memory>

namespace mtc::cuda {

/// Products of a program through cuBLASLt. A rank chooses the algorithm of a
/// row by a table, or else takes the library's first guess of what the planned
/// scratch and the operands' alignment allow; all ranks then go by the choice
/// of the lowest one that has the product, so that they round alike.
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
  /// that it takes. Behind it this rank has chosen.
  runtime::Status open(const std::vector<runtime::GemmInfo> &rows,
                       const std::string &table, const std::string &gpu);
  /// Once, in all ranks, behind `open`, if that is called: takes the choices of
  /// lower ranks. `library` as shareGemmChoices wants it. Errors: those of
  /// that; infeasible, where this rank's library or GPU does not take another's
  /// choice.
  runtime::Status agree(runtime::Communicator &control, int ranks, int rank,
                        int32_t library);
  /// As cublasLtGetVersion counts, behind `open`.
  int64_t library() const { return static_cast<int64_t>(blas_->version()); }
  /// Behind `open`: what is chosen for operands at multiples of kTunedAlignment
  /// bytes, of all ranks once they agree. Nothing was measured: times are 0.
  GemmTable chosen() const;
  /// Issues c = op(a)·op(b), plus c with `beta`, or with the row's epilogue.
  /// Errors: infeasible, without an algorithm.
  runtime::Status issue(const runtime::GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream);

private:
  runtime::Status checkTable(const std::vector<runtime::GemmInfo> &rows) const;
  /// What is wrong with the table's row of a product; empty: nothing.
  std::string problemOf(const runtime::GemmInfo &row) const;
  runtime::Status choose(const runtime::GemmInfo &row);
  /// Whether this rank can go by a choice, or need not.
  bool takes(const AlignedGemm &of, const GemmChoice &choice) const;

  const Blas *blas_ = nullptr;
  BlasHandle handle_ = nullptr;
  std::string tableFile_;
  std::string gpu_;
  GemmTable table_; ///< of tableFile_
  GemmChoices choices_;
  std::map<AlignedGemm, std::string> missing_; ///< why this rank found none
  std::map<runtime::GemmInfo, std::unique_ptr<GemmProduct>> products_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_GEMM_H
