//===- cuda_code.h - kernels of a GPU, loaded -------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_CODE_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_CODE_H

#include "runtime/device/cuda/driver.h"

#include <string>
#include <vector>

namespace mtc::cuda {

/// A module of PTX; unloaded by the destructor.
class CudaCode {
public:
  explicit CudaCode(const Driver &driver) : driver_(driver) {}
  CudaCode(const CudaCode &) = delete;
  CudaCode &operator=(const CudaCode &) = delete;
  ~CudaCode();

  /// `ptx` ends in NUL; `cubin`, if there is one, was assembled of it and is
  /// taken in its place unless the driver says that it is for another GPU.
  /// `name` is for errors. Errors: infeasible, with what the driver says.
  runtime::Status load(const char *ptx, const std::string &name,
                       const char *cubin = nullptr);
  /// One of the texts of runtime/cuda, by its name. Errors: internal, where
  /// this program has none of that name, and those of `load`.
  runtime::Status loadText(const std::string &name);
  /// An entry, which may have `shared` bytes of dynamic shared memory. Errors:
  /// infeasible, where it is not there or the device has less.
  runtime::Status find(const std::string &entry, int64_t shared,
                       Function &out) const;

private:
  const Driver &driver_;
  Module module_ = nullptr;
  std::string name_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_CODE_H
