//===- staging.cpp - host memory on its way to a device -------------------===//

#include "runtime/device/staging.h"

namespace mtc::runtime {

Staging::~Staging() {
  for (const Buffer &buffer : buffers_)
    (void)stream_.wait(buffer.free);
}

Status Staging::next(int64_t bytes, std::byte *&out) {
  current_ = 1 - current_;
  Buffer &buffer = buffers_[current_];
  MTC_RETURN_IF_ERROR(stream_.wait(buffer.free));
  if (static_cast<int64_t>(buffer.bytes.size()) < bytes)
    buffer.bytes.resize(static_cast<size_t>(bytes));
  out = buffer.bytes.data();
  return Status::okay();
}

Status Staging::send(ArenaOffset to, int64_t offset, int64_t bytes) {
  Buffer &buffer = buffers_[current_];
  MTC_RETURN_IF_ERROR(stream_.copyIn(to, buffer.bytes.data() + offset, bytes));
  buffer.free = stream_.record();
  return Status::okay();
}

} // namespace mtc::runtime
