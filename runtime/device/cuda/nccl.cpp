//===- nccl.cpp - NCCL, loaded at run time --------------------------------===//

#include "runtime/device/cuda/nccl.h"

#include "runtime/device/cuda/library.h"
#include "runtime/device/cuda/version.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

static constexpr const char *kNcclLibrary = "libnccl.so.2";
static constexpr int kNcclVersion = 22200; ///< aborts of a group end together

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
                        "there from NCCL {} on",
                        library.missing(), versionName(kNcclVersion))};
  int found = 0;
  MTC_RETURN_IF_ERROR(check(version(&found), "ncclGetVersion"));
  if (found >= kNcclVersion)
    return Status::okay();
  return {StatusCode::infeasible,
          fmt::format("expected NCCL {} or newer, whose communicators can be "
                      "aborted together, found {}; update it",
                      versionName(kNcclVersion), versionName(found))};
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
