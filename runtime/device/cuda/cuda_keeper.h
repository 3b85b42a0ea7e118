//===- cuda_keeper.h - walks of a timeline as CUDA graphs -------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_KEEPER_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_KEEPER_H

#include "runtime/device/cuda/cuda_comm_stream.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/work_keeper.h"

#include <vector>

namespace mtc::cuda {

/// Nodes from which on a graph takes no further row of a timeline. Up to here
/// the host launches a graph of an H100 in 20 us, and two, one behind the
/// other, leave no gap; of 50,000 nodes the launch alone took 430 us
/// (docs/h100.md).
inline constexpr size_t kMostGraphNodes = 10000;

/// Another number of these, for tests.
inline constexpr const char *kGraphNodesVariable = "MTC_CUDA_GRAPH_NODES";

/// Keeps what goes to the stream of fragments and to that of collectives as a
/// graph. That of collectives begins behind that of fragments, and ends before
/// it: between graphs everything is in the order of the stream of fragments.
class CudaKeeper final : public runtime::WorkKeeper {
public:
  /// `nccl` and `comms` are null where one rank is alone. All of these outlive
  /// this.
  CudaKeeper(const Driver &driver, CudaStream &stream, NcclCommunicator *nccl,
             CudaCommStream *comms)
      : driver_(driver), stream_(stream), nccl_(nccl), comms_(comms) {}
  CudaKeeper(const CudaKeeper &) = delete;
  CudaKeeper &operator=(const CudaKeeper &) = delete;
  /// The context of the GPU is current.
  ~CudaKeeper() override;

  runtime::Status begin() override;
  bool isFull() override;
  int64_t room() const override { return static_cast<int64_t>(mostNodes_); }
  runtime::Status end(std::unique_ptr<Work> &out) override;
  runtime::Status issue(Work &work) override;
  runtime::Status hostMemory(int64_t bytes, std::byte *&out) override;
  runtime::Status deviceMemory(int64_t bytes, void *&out) override;
  runtime::Status send(void *to, const std::byte *from, int64_t bytes) override;
  runtime::Status take(runtime::ArenaOffset to, const void *from,
                       int64_t bytes) override;
  /// From how many nodes on a graph is full: kMostGraphNodes, or what
  /// kGraphNodesVariable says. Before the first `begin`. Errors: usage.
  runtime::Status limitNodes();
  /// Destroys all graphs: NCCL waits for those of a communicator before it ends
  /// that. Nothing is issued any more.
  void drop();

private:
  struct Kept;

  const Driver &driver_;
  CudaStream &stream_;
  NcclCommunicator *nccl_;
  CudaCommStream *comms_;
  bool isKeeping_ = false;
  std::vector<GraphExec> graphs_;
  size_t mostNodes_ = kMostGraphNodes;
  std::vector<void *> pinned_;
  std::vector<std::unique_ptr<CudaMemory>> memory_;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_KEEPER_H
