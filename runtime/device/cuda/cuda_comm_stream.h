//===- cuda_comm_stream.h - collectives beside fragments --------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_COMM_STREAM_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_COMM_STREAM_H

#include "runtime/device/cuda/nccl_comm.h"

#include <vector>

namespace mtc::cuda {

/// A stream of the highest priority for what a plan has on MTC_STREAM_COMM: its
/// events order it and the stream of fragments, and NCCL's calls are in one
/// order on both (NcclCommunicator). Failures of the driver are kept by the
/// stream of fragments. A trace has the times of issue.
class CudaCommStream final : public runtime::CommStream {
public:
  /// All of these outlive this.
  CudaCommStream(const Driver &driver, CudaStream &compute,
                 NcclCommunicator &nccl)
      : driver_(driver), compute_(compute), nccl_(nccl) {}
  CudaCommStream(const CudaCommStream &) = delete;
  CudaCommStream &operator=(const CudaCommStream &) = delete;
  /// Waits for what was issued; the context of the GPU is current.
  ~CudaCommStream() override;

  /// Once, before anything is issued, with that context current. Errors:
  /// infeasible, with the driver's words.
  runtime::Status open();

  runtime::Status collective(const runtime::CollectiveCall &call,
                             void *buffer) override;
  void record(int64_t event, int64_t stream) override;
  runtime::Status wait(int64_t event, int64_t stream) override;
  runtime::Status finish() override;

  /// What is issued from here on is kept in a graph, for which the stream of
  /// fragments began a capture: this stream joins it, and leaves it again.
  runtime::Status beginKept();
  void endKept();

  void traceTo(std::vector<runtime::TraceTime> *times) override {
    times_ = times;
  }

private:
  StreamHandle handleOf(int64_t stream) const {
    return stream == MTC_STREAM_COMM ? stream_ : compute_.handle();
  }

  const Driver &driver_;
  CudaStream &compute_;
  NcclCommunicator &nccl_;
  StreamHandle stream_ = nullptr;
  /// `later` is behind all that was issued to `earlier`.
  runtime::Status follow(StreamHandle earlier, StreamHandle later);

  std::vector<EventHandle> events_; ///< by number; null: nobody recorded it
  /// By number: the graph in which it was recorded last, from 1; 0: in none.
  std::vector<int> graphs_;
  int graph_ = 0, graphsBegun_ = 0; ///< that is being kept; 0: none
  EventHandle between_ = nullptr;
  std::vector<runtime::TraceTime> *times_ = nullptr;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_COMM_STREAM_H
