//===- nccl_comm.h - what GPUs exchange -------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_NCCL_COMM_H
#define MTC_RUNTIME_DEVICE_CUDA_NCCL_COMM_H

#include "runtime/device/cuda/cuda_calls.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/cuda/nccl_groups.h"

#include <functional>

namespace mtc::cuda {

/// Collectives on arenas, and transfers, as calls of NCCL: all that a GPU
/// exchanges, on the stream of fragments or on another, is in one order, that
/// of the program, in which verify-plan found no cycle of waits, and nothing on
/// the host waits for it. What lies elsewhere, and barriers, are the matter of
/// `host`.
///
/// Sums are NCCL's: in the type of the values, rounded with each addition, in
/// an order that all members share and that only its algorithm knows. A NaN
/// does not win a maximum. The norm's sum is exact all the same. Ranks that
/// call different collectives hang, or are silently wrong: only verify-plan
/// excludes it.
class NcclCommunicator final : public runtime::Communicator {
public:
  /// `host` knows the same arenas; all of these outlive this.
  NcclCommunicator(const Driver &driver, CudaStream &stream, CudaCalls &calls,
                   runtime::Communicator &host,
                   const runtime::ArenaViews &device)
      : driver_(driver), stream_(stream), calls_(calls), host_(host),
        device_(device) {}
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &operator=(const NcclCommunicator &) = delete;
  ~NcclCommunicator() override;

  /// Once, in all ranks, before the first collective; `memory` has the arenas,
  /// as NcclGroups::open registers it. Errors: those of Nccl::load and
  /// NcclGroups::open; infeasible, without memory.
  runtime::Status open(const Mesh &mesh, int rank, std::span<std::byte> memory);

  runtime::Status collective(const runtime::CollectiveCall &call, void *buffer,
                             runtime::SumReader *reader) override;
  /// On another stream of the same context; behind all that was issued before,
  /// on whatever stream.
  runtime::Status collectiveOn(StreamHandle stream,
                               const runtime::CollectiveCall &call,
                               void *buffer);
  /// One group.
  runtime::Status post(std::span<const MtcTransfer> transfers) override;
  /// What is issued later finds them done.
  runtime::Status wait(std::span<const MtcTransfer>) override {
    return stream_.failure();
  }
  runtime::Status worldFailure() const override;
  void abort() override;
  /// Nothing is issued any more. Behind `abort` streams end that wait for ranks
  /// which are gone.
  void end() {
    if (beforeEnd_)
      beforeEnd_();
    groups_.end();
  }
  /// What `end` calls first: no graph of its calls may be left.
  void beforeEnd(std::function<void()> action) {
    beforeEnd_ = std::move(action);
  }
  bool aborted() const { return groups_.aborted(); }
  void finish() override { host_.finish(); }
  using Moved = std::array<int64_t, MTC_GROUP_COUNT + 1>;
  Moved bytesMoved() const override;

  /// What `stream` gets next is behind NCCL's last call.
  runtime::Status turnTo(StreamHandle stream);
  /// From here on calls are kept in a graph, whose first one is behind none.
  void beginKept();
  /// The bytes of the calls that were kept.
  Moved endKept();
  /// A graph that moves so many bytes was launched into `stream`.
  void passedKept(StreamHandle stream, const Moved &moved);

private:
  runtime::Status issue(StreamHandle stream,
                        const runtime::CollectiveCall &call, char *buffer);
  runtime::Status sumNorm(StreamHandle stream,
                          const runtime::CollectiveCall &call, void *buffer);
  /// NCCL's last call was this, on `stream`.
  void passed(StreamHandle stream);
  NcclResult issue(const MtcTransfer &transfer);

  const Driver &driver_;
  CudaStream &stream_;
  CudaCalls &calls_;
  runtime::Communicator &host_;
  runtime::ArenaViews device_;
  const Nccl *nccl_ = nullptr;
  std::function<void()> beforeEnd_;
  std::unique_ptr<CudaMemory> limbs_; ///< of a norm, as NCCL adds them
  NcclGroups groups_;
  StreamHandle last_ = nullptr; ///< of NCCL's last call
  EventHandle lastCall_ = nullptr;
  EventHandle otherCall_ =
      nullptr; ///< of those that are kept, or of the others
  Mesh mesh_;
  int rank_ = 0;
  /// Of NCCL's calls, less what the host moved to begin them.
  Moved moved_{};
  StreamHandle lastBefore_ = nullptr; ///< while calls are kept, as movedBefore_
  Moved movedBefore_{};
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_NCCL_COMM_H
