//===- driver.cpp - CUDA's driver, loaded at run time ---------------------===//

#include "runtime/device/cuda/driver.h"

#include "runtime/device/cuda/library.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

static constexpr const char *kDriverLibrary = "libcuda.so.1";
static constexpr int kDriverVersion = 13000;

Status Driver::open() {
  Library library(kDriverLibrary);
  if (!library.problem().empty())
    return {StatusCode::infeasible,
            fmt::format("expected the driver's {}, by which programs compute "
                        "on an NVIDIA GPU, found none ({}); run them where the "
                        "driver is installed, or compile with --target=cpu",
                        kDriverLibrary, library.problem())};
#define X(name, symbol, ...) library.find(name, #symbol);
  MTC_CUDA_DRIVER(X)
#undef X
  if (!library.missing().empty())
    return {StatusCode::infeasible,
            fmt::format("{}: expected the function {}, found none",
                        kDriverLibrary, library.missing())};
  MTC_RETURN_IF_ERROR(check(init(0), "cuInit"));
  int version = 0;
  MTC_RETURN_IF_ERROR(check(driverVersion(&version), "cuDriverGetVersion"));
  if (version >= kDriverVersion)
    return Status::okay();
  return {StatusCode::infeasible,
          fmt::format("expected an NVIDIA driver of CUDA {}.{} or newer, which "
                      "kernels of mtc need (PTX 9.0), found one of CUDA {}.{}; "
                      "update the driver (R580 is the first)",
                      kDriverVersion / 1000, kDriverVersion % 1000 / 10,
                      version / 1000, version % 1000 / 10)};
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
  bool isFault = std::ranges::find(kFaults, result) != std::end(kFaults);
  return {isFault ? StatusCode::gpuFailed : StatusCode::infeasible,
          fmt::format("{}: {} ({}){}{}", call, name, result,
                      what.empty() ? "" : ": ", what)};
}

} // namespace mtc::cuda
