//===- staged_comm.h - a GPU's buffers in a host's calls --------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_STAGED_COMM_H
#define MTC_RUNTIME_DEVICE_CUDA_STAGED_COMM_H

#include "mtc/runtime/mesh.h"
#include "runtime/comm/comm.h"
#include "runtime/device/cuda/cuda_stream.h"

namespace mtc::cuda {

/// Calls of a backend of the host on arenas of a GPU: what a call reads is
/// copied to the host's mirror of the arenas, which `backend` knows, and what
/// it wrote is copied back. Slow: each call waits for the stream. It is the
/// path of machines without NCCL, and what NCCL is compared with. Buffers
/// outside of the arenas are the host's, of at most kAnywhereBytes.
class StagedCommunicator final : public runtime::Communicator {
public:
  StagedCommunicator(CudaStream &stream, runtime::Communicator &backend,
                     const runtime::ArenaViews &device,
                     const runtime::ArenaViews &mirror, const Mesh &mesh,
                     int rank);

  runtime::Status collective(const runtime::CollectiveCall &call, void *buffer,
                             runtime::SumReader *reader) override;
  runtime::Status post(std::span<const MtcTransfer> transfers) override;
  runtime::Status wait(std::span<const MtcTransfer> transfers) override;
  runtime::Status worldFailure() const override {
    return backend_.worldFailure();
  }
  void abort() override { backend_.abort(); }
  void finish() override { backend_.finish(); }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return backend_.bytesMoved();
  }

private:
  /// A range of an arena, in bytes.
  struct Range {
    runtime::ArenaOffset at;
    int64_t bytes = 0;
  };
  void *hostOf(const Range &range) const;
  runtime::Status toHost(const Range &range);
  runtime::Status fromHost(const Range &range);
  /// Where a buffer of a GPU lies; false: in no arena.
  bool find(const void *buffer, int64_t bytes, Range &out) const;

  CudaStream &stream_;
  runtime::Communicator &backend_;
  runtime::ArenaViews device_, mirror_;
  /// Of a group: how many members it has, and which of them this rank is.
  struct Place {
    int64_t size = 1, own = 0;
  };
  std::array<Place, MTC_GROUP_COUNT> places_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_STAGED_COMM_H
