//===- staging.h - host memory on its way to a device -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_STAGING_H
#define MTC_RUNTIME_DEVICE_STAGING_H

#include "runtime/device/device.h"

#include <vector>

namespace mtc::runtime {

/// Two host buffers in turn: while one is being copied the other is filled.
class Staging {
public:
  explicit Staging(Stream &stream) : stream_(stream) {}
  /// Waits for the copies out of its buffers, also after a failure: the stream
  /// must still be there.
  ~Staging();
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;

  /// The next buffer, of at least `bytes` bytes; valid until the next but one
  /// call. Waits until the copies out of it are done. Allocates only when it is
  /// longer than before. Errors: those of the stream.
  Status next(int64_t bytes, std::byte *&out);
  /// Issues a copy of `bytes` bytes, `offset` bytes into the buffer of the last
  /// call of `next`. Errors: those of Stream::copyIn.
  Status send(ArenaOffset to, int64_t offset, int64_t bytes);

private:
  struct Buffer {
    std::vector<std::byte> bytes;
    Event free; ///< when its last copy is done
  };
  Stream &stream_;
  Buffer buffers_[2];
  int current_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_STAGING_H
