//===- nccl.cpp - NCCL, loaded at run time --------------------------------===//

#include "runtime/device/cuda/nccl.h"

#include "runtime/device/cuda/library.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

static constexpr const char *kNcclLibrary = "libnccl.so.2";

Status Nccl::open() {
  Library library(kNcclLibrary);
  if (!library.problem().empty())
    return {StatusCode::infeasible,
            fmt::format("expected NCCL, by which GPUs exchange, as {}, found "
                        "none ({}); install it, add its folder to "
                        "LD_LIBRARY_PATH, or run with --comm shm, which goes "
                        "through the host's memory",
                        kNcclLibrary, library.problem())};
#define X(name, symbol, ...) library.find(name, #symbol);
  MTC_CUDA_NCCL(X)
#undef X
  library.find(resultName, "ncclGetErrorString");
  library.find(lastError, "ncclGetLastError");
  if (!library.missing().empty())
    return {StatusCode::infeasible,
            fmt::format("NCCL: expected the function {}, found none; it is "
                        "there from NCCL 2.19 on",
                        library.missing())};
  return Status::okay();
}

Status Nccl::load(const Nccl *&out) {
  static Nccl nccl;
  static const Status opened = nccl.open();
  out = &nccl;
  return opened;
}

Status Nccl::check(NcclResult result, const char *call) const {
  if (result == 0)
    return Status::okay();
  return {result == kNcclRemoteError ? StatusCode::peerDied
                                     : StatusCode::communication,
          fmt::format("{}: {} ({}): {}", call, resultName(result), result,
                      lastError(nullptr))};
}

} // namespace mtc::cuda
