//===- blas.cpp - cuBLASLt, loaded at run time ----------------------------===//

#include "runtime/device/cuda/blas.h"

#include <dlfcn.h>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

/// One version, as results depend on it.
static constexpr const char *kBlasLibrary = "libcublasLt.so.13";

Status Blas::open() {
  void *library = dlopen(kBlasLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {StatusCode::infeasible,
            fmt::format("expected cuBLASLt, which products on a GPU need, as "
                        "{}, found none ({}); install it, or add its folder to "
                        "LD_LIBRARY_PATH",
                        kBlasLibrary, dlerror())};
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, name));
    if (!function)
      missing = name;
  };
#define X(name, symbol, ...) find(name, #symbol);
  MTC_CUDA_BLAS(X)
#undef X
  find(statusName, "cublasLtGetStatusName");
  find(version, "cublasLtGetVersion");
  if (missing)
    return {
        StatusCode::infeasible,
        fmt::format("cuBLASLt: expected the function {}, found none", missing)};
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
