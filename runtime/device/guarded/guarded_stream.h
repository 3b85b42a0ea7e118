//===- guarded_stream.h - a queue that runs late ----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_GUARDED_GUARDED_STREAM_H
#define MTC_RUNTIME_DEVICE_GUARDED_GUARDED_STREAM_H

#include "runtime/device/device.h"
#include "runtime/device/guarded/guard.h"

#include <deque>
#include <functional>

namespace mtc::runtime {

/// Issues on `inner`, a stream that is done when its calls return, in the
/// order of issue, each when `wait` asks for it, with the arenas open.
class GuardedStream final : public Stream {
public:
  using Work = std::function<Status()>;

  GuardedStream(Stream &inner, ArenaGuard &guard)
      : inner_(inner), guard_(guard) {}

  Status copyIn(ArenaOffset to, const void *from, int64_t bytes) override;
  Status copyOut(ArenaOffset from, void *to, int64_t bytes) override;
  Status fill(ArenaOffset to, uint8_t byte, int64_t bytes) override;
  Status launch(MtcFragment fragment, MtcContext *context,
                const MtcStep *row) override;
  Event record() override { return {issued_}; }
  Status wait(Event event) override;

  /// What a running fragment issues is part of it, and runs at once.
  Status issue(Work work);

private:
  Status runNext();

  Stream &inner_;
  ArenaGuard &guard_;
  std::deque<Work> queue_;
  uint64_t issued_ = 0, done_ = 0;
  bool running_ = false;
  Status failure_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_GUARDED_GUARDED_STREAM_H
