//===- nccl.h - NCCL, loaded at run time ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_NCCL_H
#define MTC_RUNTIME_DEVICE_CUDA_NCCL_H

#include "runtime/base/status.h"
#include "runtime/device/cuda/nccl_api.h"

#include <string>

namespace mtc::cuda {

/// The functions of nccl_api.h.
class Nccl {
public:
#define X(name, symbol, ...) NcclResult (*name)(__VA_ARGS__) = nullptr;
  MTC_CUDA_NCCL(X)
#undef X
  const char *(*resultName)(NcclResult) = nullptr; ///< ncclGetErrorString
  const char *(*lastError)(NcclHandle) = nullptr;  ///< ncclGetLastError

  /// Loads libnccl.so.2 once for the process; every later call gives the same.
  /// Errors: infeasible, naming what is missing.
  static runtime::Status load(const Nccl *&out);

  /// ok, or communication: "ncclCommInitRank: invalid usage (5): what the
  /// library says"; peerDied, where it says that another rank is gone.
  runtime::Status check(NcclResult result, const char *call) const;

private:
  runtime::Status open();
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_NCCL_H
