//===- registered.h - memory that a communicator knows ----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_REGISTERED_H
#define MTC_TEST_CUDA_NCCL_REGISTERED_H

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace mtc::standin::nccl {

/// What ncclCommRegister gave one communicator. From any thread.
class Registered {
public:
  /// A handle that no other one here has.
  void *add(CUdeviceptr from, size_t bytes);
  /// False: there is no such handle, or it was given back.
  bool remove(void *handle);
  /// The place of these bytes in what is registered; none: not all of them lie
  /// in one such range. Of nested ranges the first that was registered.
  std::optional<int64_t> find(CUdeviceptr from, size_t bytes) const;
  /// Whether any of these bytes is registered.
  bool touches(CUdeviceptr from, size_t bytes) const;

private:
  struct Range {
    CUdeviceptr from;
    size_t bytes;
  };
  mutable std::mutex mutex;
  uintptr_t given = 0; ///< handles
  std::map<uintptr_t, Range> ranges;
};

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_REGISTERED_H
