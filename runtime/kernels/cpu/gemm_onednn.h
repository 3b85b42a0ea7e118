//===- gemm_onednn.h - products of oneDNN -----------------------*- C++ -*-===//
//
// Internal: the primitives of rows whose kernel is the library's.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_ONEDNN_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_ONEDNN_H

#include "runtime/kernels/cpu/gemm.h"

namespace mtc::runtime {

/// The instruction set of gemmSelectIsa, or "" before it.
std::string_view gemmIsa();

/// What a product needs, in *bytes. Errors: infeasible where the library has no
/// kernel of it whose memory is all in the scratch, with what it has.
Status oneDnnScratch(const GemmDesc &desc, int threads, int64_t *bytes);

/// The primitive of a legal product with its memory objects; only their
/// pointers change per call. One thread at a time.
class OneDnnGemm {
public:
  OneDnnGemm();
  ~OneDnnGemm();
  OneDnnGemm(OneDnnGemm &&) noexcept;

  /// Errors: as oneDnnScratch; infeasible where OpenMP has fewer threads for
  /// the calling one, with which the library is wrong or hangs; failed, with
  /// the library's reason.
  Status create(const GemmDesc &desc, int threads);
  int64_t scratchBytes() const;
  /// Errors: failed, with the library's code.
  Status run(const void *a, const void *b, void *c, void *scratch);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_ONEDNN_H
