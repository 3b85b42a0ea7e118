//===- guarded_device.cpp - the cpu, late and locked ----------------------===//

#include "runtime/device/guarded/guarded_device.h"

#include "runtime/comm/comm.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/guarded/guarded_stream.h"

namespace mtc::runtime {
namespace {

/// Calls of `backend` become work of a stream. While a rank is in a call its
/// arenas are open, and from a post to its wait, so a backend that works in the
/// arenas of all members finds them open.
class IssuingCommunicator final : public Communicator {
public:
  IssuingCommunicator(GuardedStream &stream, ArenaGuard &guard,
                      Communicator &backend)
      : stream_(stream), guard_(guard), backend_(backend) {}

  Status collective(const CollectiveCall &call, void *buffer,
                    SumReader *reader) override {
    return stream_.issue(
        [=, this] { return backend_.collective(call, buffer, reader); });
  }
  Status post(std::span<const MtcTransfer> transfers) override {
    return stream_.issue([=, this] {
      for (size_t i = 0; i < transfers.size(); ++i)
        MTC_RETURN_IF_ERROR(guard_.open());
      return backend_.post(transfers);
    });
  }
  Status wait(std::span<const MtcTransfer> transfers) override {
    return stream_.issue([=, this] {
      MTC_RETURN_IF_ERROR(backend_.wait(transfers));
      for (size_t i = 0; i < transfers.size(); ++i)
        MTC_RETURN_IF_ERROR(guard_.close());
      return Status::okay();
    });
  }
  void abort() override { backend_.abort(); }
  void finish() override { backend_.finish(); }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return backend_.bytesMoved();
  }

private:
  GuardedStream &stream_;
  ArenaGuard &guard_;
  Communicator &backend_;
};

class GuardedDevice final : public Device {
public:
  void *kernelWorkspace() override { return cpu_->kernelWorkspace(); }
  Status open(const DeviceRequest &request) {
    // One queue: who is late with collectives of its own accord would let ranks
    // wait for each other.
    DeviceRequest inOrder = request;
    inOrder.streams = 1;
    MTC_RETURN_IF_ERROR(CpuDevice::create(inOrder, cpu_));
    stream_ = std::make_unique<GuardedStream>(cpu_->stream(), guard_);
    return guard_.watch(cpu_->arenas(), request.rank);
  }

  const ArenaViews &arenas() const override { return cpu_->arenas(); }
  Stream &stream() override { return *stream_; }
  Status prepare(const Descriptor &descriptor) override {
    return cpu_->prepare(descriptor);
  }
  Status gemm(int64_t index, const GemmOperands &x) override {
    return cpu_->gemm(index, x);
  }
  Status pack(const PackOperands &x) override { return cpu_->pack(x); }
  Communicator &issuing(Communicator &backend) override {
    comm_ = std::make_unique<IssuingCommunicator>(*stream_, guard_, backend);
    return *comm_;
  }

private:
  std::unique_ptr<CpuDevice> cpu_;
  ArenaGuard guard_; ///< gone before the arenas are
  std::unique_ptr<GuardedStream> stream_;
  std::unique_ptr<IssuingCommunicator> comm_;
};

} // namespace

Status makeGuardedDevice(const DeviceRequest &request,
                         std::unique_ptr<Device> &out) {
  auto device = std::make_unique<GuardedDevice>();
  MTC_RETURN_IF_ERROR(device->open(request));
  out = std::move(device);
  return Status::okay();
}

} // namespace mtc::runtime
