//===- cuda_stream.h - a stream of a GPU ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_STREAM_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_STREAM_H

#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace mtc::cuda {

/// Work of one rank on its GPU, whose context is current in the thread that
/// calls. Nothing of it runs on the host but fragments, which issue.
class CudaStream final : public runtime::Stream {
public:
  explicit CudaStream(const Driver &driver) : driver_(driver) {}
  CudaStream(const CudaStream &) = delete;
  CudaStream &operator=(const CudaStream &) = delete;
  /// Waits for what was issued.
  ~CudaStream() override;

  /// Errors: infeasible, with the driver's words.
  runtime::Status open(Context context);
  /// What copies reach; addresses are the GPU's.
  void setArenas(const runtime::ArenaViews &arenas) { arenas_ = arenas; }
  StreamHandle handle() const { return stream_; }
  /// `bytes` bytes of pinned memory, which copies reach while the host goes on.
  void addPinned(const std::byte *begin, int64_t bytes) {
    pinned_.emplace_back(begin, static_cast<size_t>(bytes));
  }

  runtime::Status copyIn(runtime::ArenaOffset to, const void *from,
                         int64_t bytes) override;
  runtime::Status copyOut(runtime::ArenaOffset from, void *to,
                          int64_t bytes) override;
  runtime::Status fill(runtime::ArenaOffset to, uint8_t byte,
                       int64_t bytes) override;
  /// From memory of the GPU beside the arenas. Errors: as copyIn.
  runtime::Status copyWithin(runtime::ArenaOffset to, const void *from,
                             int64_t bytes);
  runtime::Status launch(MtcFragment fragment, MtcContext *context,
                         const MtcStep *row) override;
  runtime::Event record() override;
  runtime::Status wait(runtime::Event event) override;

  /// From now on who waits asks `look`, now and then, why what is in the stream
  /// may never end; ok: nobody knows of a reason. Where there is one, or the
  /// stream has `failed`, it makes that end.
  using Look = std::function<runtime::Status(bool failed)>;
  void watch(Look look) { look_ = std::move(look); }

  /// Keeps the first failure, which all later calls give.
  void fail(runtime::Status status);
  bool failed() const { return !failure_.ok(); }
  const runtime::Status &failure() const { return failure_; }
  /// Keeps and gives the outcome of a call of the driver.
  runtime::Status accept(Result result, const char *call,
                         const std::string &what = "");

private:
  runtime::Status await(EventHandle event);
  bool isPinned(const void *memory) const;
  /// The address of a range; fails where it leaves its arena.
  Address find(runtime::ArenaOffset at, int64_t bytes);

  const Driver &driver_;
  Context context_ = nullptr;
  StreamHandle stream_ = nullptr;
  runtime::ArenaViews arenas_{};
  runtime::Status failure_;
  Look look_;
  /// Of the last points, by position: an older point is awaited by a later one.
  std::array<EventHandle, 64> events_{};
  uint64_t recorded_ = 0;
  std::vector<std::span<const std::byte>> pinned_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_STREAM_H
