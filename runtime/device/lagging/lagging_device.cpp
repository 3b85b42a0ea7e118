//===- lagging_device.cpp - the cpu, with collectives that end late -------===//

#include "runtime/device/lagging/lagging_device.h"

#include "runtime/comm/comm.h"
#include "runtime/device/cpu/cpu_device.h"

#include <condition_variable>
#include <mutex>

namespace mtc::runtime {
namespace {

/// How far the two streams have gone, which hold each other back.
class Progress {
public:
  /// Of fragments: a product begins, once all collectives that were issued have
  /// begun, too.
  void multiply() {
    std::unique_lock held(lock_);
    ++products_;
    changed_.notify_all();
    changed_.wait(held, [&] { return failed_ || begun_ == issued_; });
  }
  void issue() {
    std::lock_guard held(lock_);
    ++issued_;
  }
  /// Of collectives: one begins. Returns how many products have.
  uint64_t begin() {
    std::lock_guard held(lock_);
    ++begun_;
    changed_.notify_all();
    return products_;
  }
  /// None begins any more.
  void fail() {
    std::lock_guard held(lock_);
    failed_ = true;
    changed_.notify_all();
  }
  /// Who waits for others goes on no further.
  void beginWait() {
    std::lock_guard held(lock_);
    waits_ = true;
    changed_.notify_all();
  }
  void endWait() {
    std::lock_guard held(lock_);
    waits_ = false;
  }
  /// Returns when more products than these have begun, or fragments wait.
  void awaitMoreThan(uint64_t products) {
    std::unique_lock held(lock_);
    changed_.wait(held, [&] { return waits_ || products_ > products; });
  }

private:
  std::mutex lock_;
  std::condition_variable changed_;
  uint64_t products_ = 0, issued_ = 0, begun_ = 0;
  bool waits_ = false, failed_ = false;
};

/// For the time of a block.
class Waiting {
public:
  explicit Waiting(Progress &progress) : progress_(progress) {
    progress_.beginWait();
  }
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;
  ~Waiting() { progress_.endWait(); }

private:
  Progress &progress_;
};

/// Of the stream of fragments: each call waits for others.
class Forwarding : public Communicator {
public:
  Forwarding(Communicator &backend, Progress &progress)
      : backend_(backend), progress_(progress) {}

  Status collective(const CollectiveCall &call, void *buffer,
                    SumReader *reader) override {
    Waiting waiting(progress_);
    return backend_.collective(call, buffer, reader);
  }
  Status post(std::span<const MtcTransfer> transfers) override {
    Waiting waiting(progress_);
    return backend_.post(transfers);
  }
  Status wait(std::span<const MtcTransfer> transfers) override {
    Waiting waiting(progress_);
    return backend_.wait(transfers);
  }
  void abort() override { backend_.abort(); }
  void threadWakes() override { backend_.threadWakes(); }
  void threadSleeps() override { backend_.threadSleeps(); }
  void finish() override { backend_.finish(); }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return backend_.bytesMoved();
  }

protected:
  Communicator &backend_;
  Progress &progress_;
};

/// Of the thread of collectives: calls end late.
class Lagging final : public Forwarding {
public:
  using Forwarding::Forwarding;

  Status collective(const CollectiveCall &call, void *buffer,
                    SumReader *reader) override {
    uint64_t before = progress_.begin();
    Status status = backend_.collective(call, buffer, reader);
    if (status.ok())
      progress_.awaitMoreThan(before);
    else
      progress_.fail();
    return status;
  }
};

class LaggingDevice final : public Device, CommStream {
public:
  void *kernelWorkspace() override { return cpu_->kernelWorkspace(); }
  Status open(const DeviceRequest &request) {
    return CpuDevice::create(request, cpu_);
  }

  const ArenaViews &arenas() const override { return cpu_->arenas(); }
  Stream &stream() override { return cpu_->stream(); }
  Status prepare(const Descriptor &descriptor) override {
    return cpu_->prepare(descriptor);
  }
  Status gemm(int64_t index, const GemmOperands &x) override {
    progress_.multiply();
    return cpu_->gemm(index, x);
  }
  Status pack(const PackOperands &x) override { return cpu_->pack(x); }
  Communicator &issuing(Communicator &backend) override {
    late_ = std::make_unique<Lagging>(backend, progress_);
    comm_ = std::make_unique<Forwarding>(backend, progress_);
    (void)cpu_->issuing(*late_);
    return *comm_;
  }
  CommStream *commStream() override { return inner() ? this : nullptr; }

private:
  CommStream *inner() { return cpu_->commStream(); }
  Status collective(const CollectiveCall &call, void *buffer) override {
    progress_.issue();
    return inner()->collective(call, buffer);
  }
  void record(int64_t event, int64_t stream) override {
    inner()->record(event, stream);
  }
  Status wait(int64_t event, int64_t stream) override {
    Waiting waiting(progress_);
    return inner()->wait(event, stream);
  }
  Status finish() override {
    Waiting waiting(progress_);
    return inner()->finish();
  }
  void traceTo(std::vector<TraceTime> *times) override {
    inner()->traceTo(times);
  }

  Progress progress_;
  std::unique_ptr<Forwarding> comm_;
  std::unique_ptr<Lagging> late_;
  std::unique_ptr<CpuDevice> cpu_; ///< its thread ends first
};

} // namespace

Status makeLaggingDevice(const DeviceRequest &request,
                         std::unique_ptr<Device> &out) {
  auto device = std::make_unique<LaggingDevice>();
  MTC_RETURN_IF_ERROR(device->open(request));
  out = std::move(device);
  return Status::okay();
}

} // namespace mtc::runtime
