//===- mapping.h - a mapped range of a file descriptor ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_SHM_MAPPING_H
#define MTC_RUNTIME_COMM_SHM_MAPPING_H

#include "runtime/base/status.h"

#include <cstdint>

namespace mtc::runtime::comm {

/// Owns a shared mapping of a whole file; not the file descriptor.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();

  /// Maps `bytes` > 0 bytes of `fd` readable and writable, shared, anywhere.
  static Status map(int fd, int64_t bytes, Mapping &out);

  /// The same of a descriptor of process `owner`, by /proc; 0: of this one.
  /// Mappings of different `place` (mod kPlaces) may be worked on at equal
  /// offsets at once without driving each other out of a small cache; where
  /// address space is scarce this is not so.
  static Status mapOf(int owner, int fd, int64_t bytes, int place,
                      Mapping &out);
  static constexpr int kPlaces = 128;

  void *base() const { return base_; }
  int64_t bytes() const { return bytes_; }

private:
  static Status mapAt(void *address, int fd, int64_t bytes, Mapping &out);
  static Status mapPlaced(int fd, int64_t bytes, int place, Mapping &out);

  void *base_ = nullptr;
  int64_t bytes_ = 0;
};

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_SHM_MAPPING_H
