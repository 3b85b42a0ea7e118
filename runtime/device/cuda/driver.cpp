//===- driver.cpp - CUDA's driver, loaded at run time ---------------------===//

#include "runtime/device/cuda/driver.h"

#include <dlfcn.h>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

static constexpr const char *kLibrary = "libcuda.so.1";

Status Driver::open() {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {StatusCode::infeasible,
            fmt::format("this program computes on an NVIDIA GPU: expected the "
                        "driver's {}, found none ({}); run it where the driver "
                        "is installed, or compile with --target=cpu",
                        kLibrary, dlerror())};
#define X(name, symbol, ...)                                                   \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #symbol));            \
  if (!name)                                                                   \
    return {                                                                   \
        StatusCode::infeasible,                                                \
        fmt::format("{}: expected the function {}, found none; the driver "    \
                    "is older than CUDA 12",                                   \
                    kLibrary, #symbol)};
  MTC_CUDA_DRIVER(X)
#undef X
  return check(init(0), "cuInit");
}

Status Driver::load(const Driver *&out) {
  static Driver driver;
  static const Status opened = driver.open();
  out = &driver;
  return opened;
}

Status Driver::check(Result result, const char *call,
                     const std::string &what) const {
  if (result == 0)
    return Status::okay();
  const char *name = nullptr;
  if (errorName(result, &name) != 0 || !name)
    name = "an unknown error";
  return {StatusCode::infeasible,
          fmt::format("{}: {} ({}){}{}", call, name, result,
                      what.empty() ? "" : ": ", what)};
}

} // namespace mtc::cuda
