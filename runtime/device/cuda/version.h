//===- version.h - versions of NVIDIA's libraries ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_VERSION_H
#define MTC_RUNTIME_DEVICE_CUDA_VERSION_H

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace mtc::cuda {

/// "2.28.9" of 22809, as cuBLASLt and NCCL (from 2.9 on) count.
inline std::string versionName(int64_t number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100,
                     number % 100);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_VERSION_H
