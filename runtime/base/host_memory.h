//===- host_memory.h - memory of the host that has a name -------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_HOST_MEMORY_H
#define MTC_RUNTIME_BASE_HOST_MEMORY_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Owns zeroed memory of this process, which is in place from the start: what
/// fails for want of memory fails here, not at the first touch.
class HostMemory {
public:
  HostMemory() = default;
  HostMemory(HostMemory &&other) noexcept { swap(other); }
  HostMemory &operator=(HostMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~HostMemory();

  /// `name` is for tools that list mappings, where the kernel keeps it, and for
  /// the error: infeasible.
  static Status map(int64_t bytes, const std::string &name, HostMemory &out);

  void *base() const { return base_; } ///< page-aligned; null: 0 bytes
  int64_t bytes() const { return bytes_; }

private:
  void swap(HostMemory &other) noexcept;
  void *base_ = nullptr;
  int64_t bytes_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_HOST_MEMORY_H
