//===- cpu_device.h - a rank on the host's processor ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CPU_CPU_DEVICE_H
#define MTC_RUNTIME_DEVICE_CPU_CPU_DEVICE_H

#include "runtime/device/cpu/arena.h"
#include "runtime/device/cpu/comm_thread.h"
#include "runtime/device/devices.h"
#include "runtime/kernels/cpu/gemm.h"

namespace mtc::runtime {

/// The calling thread: work is done when the call that issues it returns, so
/// there is nothing to wait for.
class CpuStream final : public Stream {
public:
  explicit CpuStream(const ArenaViews &arenas) : arenas_(arenas) {}

  Status copyIn(ArenaOffset to, const void *from, int64_t bytes) override;
  Status copyOut(ArenaOffset from, void *to, int64_t bytes) override;
  Status fill(ArenaOffset to, uint8_t byte, int64_t bytes) override;
  Status launch(MtcFragment fragment, MtcContext *context,
                const MtcStep *row) override {
    fragment(context, row);
    return Status::okay();
  }
  Event record() override { return {}; }
  Status wait(Event) override { return Status::okay(); }

private:
  Status find(ArenaOffset at, int64_t bytes, void *&out) const;

  ArenaViews arenas_;
};

/// Arenas of its own, or those that the communicator shares; for a plan of two
/// streams a thread of collectives.
class CpuDevice final : public Device {
public:
  static Status create(const DeviceRequest &request,
                       std::unique_ptr<CpuDevice> &out);

  const ArenaViews &arenas() const override { return arenas_; }
  Stream &stream() override { return *stream_; }
  Status prepare(const Descriptor &descriptor) override;
  void populate(const PopulateProgress &done) override;
  Status gemm(int64_t index, const GemmOperands &x) override {
    return gemms_.execute(index, x.a, x.b, x.c, x.scratch, {x.then, x.argument},
                          x.squares);
  }
  Status pack(const PackOperands &x) override {
    return gemmPack({x.n, x.k, x.tb, x.type}, static_cast<int>(threads_), x.b,
                    x.packed);
  }
  void *kernelWorkspace() override { return workspace_.base(); }
  Communicator &issuing(Communicator &backend) override {
    if (comms_)
      comms_->use(backend);
    return backend;
  }
  CommStream *commStream() override { return comms_.get(); }

private:
  CpuDevice() = default;

  AnonymousArenas own_;
  AnonymousMemory workspace_;
  ArenaViews arenas_{};
  int rank_ = 0;
  int64_t threads_ = 1;
  std::unique_ptr<CpuStream> stream_;
  GemmSet gemms_;
  std::unique_ptr<CommThread> comms_; ///< gone before the arenas are
};

Status makeCpuDevice(const DeviceRequest &request,
                     std::unique_ptr<Device> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_CPU_DEVICE_H
