//===- cuda_code.cpp - kernels of a GPU, loaded ---------------------------===//

#include "runtime/device/cuda/cuda_code.h"

#include "runtime/cuda/ptx_texts.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

/// What every kernel may have without being asked.
static constexpr int64_t kSharedForAll = 48 << 10;

CudaCode::~CudaCode() {
  if (module_)
    (void)driver_.unloadModule(module_);
}

Status CudaCode::load(const char *ptx, const std::string &name,
                      const char *cubin) {
  name_ = name;
  if (cubin) {
    Result result = driver_.loadModule(&module_, cubin, 0, nullptr, nullptr);
    if (result != kNoBinaryForGpu)
      return driver_.check(result, "cuModuleLoadDataEx", name + ", cubin");
    module_ = nullptr;
  }
  std::vector<char> log(8192, '\0');
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  Result result = driver_.loadModule(&module_, ptx, 2, options, values);
  return driver_.check(result, "cuModuleLoadDataEx",
                       fmt::format("{} {}", name, log.data()));
}

Status CudaCode::loadText(const std::string &name) {
  const char *text = ptxText(name);
  if (text)
    return load(text, name);
  return {StatusCode::internal,
          fmt::format("expected the kernels {} in this program, found none; "
                      "compile the plan again, with this version of mtc",
                      name)};
}

Status CudaCode::find(const std::string &entry, int64_t shared,
                      Function &out) const {
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.function(&out, module_, entry.c_str()),
                    "cuModuleGetFunction", name_ + " " + entry));
  if (shared <= kSharedForAll)
    return Status::okay();
  return driver_.check(
      driver_.setFunction(out, kMaxDynamicShared, static_cast<int>(shared)),
      "cuFuncSetAttribute",
      fmt::format("{} {}, {} bytes of shared memory", name_, entry, shared));
}

} // namespace mtc::cuda
