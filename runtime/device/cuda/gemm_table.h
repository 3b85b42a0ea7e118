//===- gemm_table.h - algorithms that `mtc tune` chose ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_GEMM_TABLE_H
#define MTC_RUNTIME_DEVICE_CUDA_GEMM_TABLE_H

#include "mtc/runtime/descriptor.h"
#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/device/cuda/blas_api.h"

#include <map>
#include <string>

namespace mtc::cuda {

/// Bytes that operands of a tuned product begin at a multiple of: as many as
/// one access reads, so that no algorithm asks for more.
inline constexpr uint32_t kTunedAlignment = 16;

struct TunedGemm {
  MatmulAlgo algorithm{};
  double microseconds = 0;      ///< of one call, when it was measured
  double firstMicroseconds = 0; ///< of the library's first guess
};

/// By product, for one kind of GPU and one version of cuBLASLt: what it stores
/// of an algorithm means something to that version only.
struct GemmTable {
  std::string gpu;     ///< as the driver names it
  int64_t library = 0; ///< as cublasLtGetVersion counts
  std::map<runtime::GemmInfo, TunedGemm> rows;

  /// Whether it is for this GPU and library; `file` is for errors. Errors:
  /// usage.
  runtime::Status check(const std::string &file, const std::string &gpu,
                        int64_t library) const;
};

/// Errors: inputRejected, all of what is wrong at once.
runtime::Status readGemmTable(const std::string &file, GemmTable &out);
runtime::Json gemmTableJson(const GemmTable &table);
/// The text of such a file.
std::string gemmTableText(const GemmTable &table);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_GEMM_TABLE_H
