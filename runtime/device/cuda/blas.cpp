//===- blas.cpp - cuBLASLt, loaded at run time ----------------------------===//

#include "runtime/device/cuda/blas.h"

#include "runtime/device/cuda/library.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

/// One version, as results depend on it.
static constexpr const char *kBlasLibrary = "libcublasLt.so.13";

Status Blas::open() {
  Library library(kBlasLibrary);
  if (!library.problem().empty())
    return {StatusCode::infeasible,
            fmt::format("expected cuBLASLt, which products on a GPU need, as "
                        "{}, found none ({}); install it, or add its folder to "
                        "LD_LIBRARY_PATH",
                        kBlasLibrary, library.problem())};
#define X(name, symbol, ...) library.find(name, #symbol);
  MTC_CUDA_BLAS(X)
#undef X
  library.find(statusName, "cublasLtGetStatusName");
  library.find(version, "cublasLtGetVersion");
  if (!library.missing().empty())
    return {StatusCode::infeasible,
            fmt::format("cuBLASLt: expected the function {}, found none",
                        library.missing())};
  return Status::okay();
}

Status Blas::load(const Blas *&out) {
  static Blas blas;
  static const Status opened = blas.open();
  out = &blas;
  return opened;
}

Status Blas::check(BlasStatus status, const char *call,
                   const std::string &what) const {
  if (status == 0)
    return Status::okay();
  return {StatusCode::infeasible,
          fmt::format("{}: {} ({}){}{}", call, statusName(status), status,
                      what.empty() ? "" : ": ", what)};
}

} // namespace mtc::cuda
