//===- cuda_keeper.cpp - walks of a timeline as CUDA graphs ---------------===//

#include "runtime/device/cuda/cuda_keeper.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::cuda {

struct CudaKeeper::Kept final : runtime::WorkKeeper::Work {
  size_t graph = 0;
  NcclCommunicator::Moved moved{}; ///< by each launch
};

CudaKeeper::~CudaKeeper() {
  drop();
  for (void *memory : pinned_)
    (void)driver_.freeHost(memory);
}

Status CudaKeeper::begin() {
  MTC_RETURN_IF_ERROR(
      stream_.accept(driver_.beginCapture(stream_.handle(), kCaptureThread),
                     "cuStreamBeginCapture"));
  isKeeping_ = true;
  if (nccl_)
    nccl_->beginKept();
  return comms_ ? comms_->beginKept() : Status::okay();
}

bool CudaKeeper::isFull() {
  int status = 0;
  Graph graph = nullptr;
  size_t nodes = 0;
  // A stream that failed says so elsewhere.
  if (driver_.captureInfo(stream_.handle(), &status, nullptr, &graph, nullptr,
                          nullptr, nullptr) != 0 ||
      status != kCaptures || driver_.graphNodes(graph, nullptr, &nodes) != 0)
    return false;
  return nodes >= mostNodes_;
}

Status CudaKeeper::limitNodes() {
  const char *asked = std::getenv(kGraphNodesVariable);
  if (!asked)
    return Status::okay();
  std::string_view text = asked;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), mostNodes_);
  if (error == std::errc() && end == text.data() + text.size() &&
      mostNodes_ > 0)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{}: expected a number of nodes from 1, found '{}'",
                      kGraphNodesVariable, text)};
}

Status CudaKeeper::end(std::unique_ptr<Work> &out) {
  if (!std::exchange(isKeeping_, false))
    return stream_.failure();
  auto kept = std::make_unique<Kept>();
  if (comms_)
    comms_->endKept();
  if (nccl_)
    kept->moved = nccl_->endKept();
  Graph graph = nullptr;
  // Also of a stream that failed: nothing else ends a capture.
  Result ended = driver_.endCapture(stream_.handle(), &graph);
  Status status = stream_.accept(ended, "cuStreamEndCapture");
  GraphExec exec = nullptr;
  if (status.ok())
    status = stream_.accept(driver_.instantiate(&exec, graph, kNodePriorities),
                            "cuGraphInstantiate");
  if (graph)
    (void)driver_.destroyGraph(graph);
  kept->graph = graphs_.size();
  if (exec)
    graphs_.push_back(exec);
  out = std::move(kept);
  return status;
}

Status CudaKeeper::issue(Work &work) {
  auto &kept = static_cast<Kept &>(work);
  if (stream_.failed() || kept.graph >= graphs_.size())
    return stream_.failure();
  if (nccl_)
    MTC_RETURN_IF_ERROR(nccl_->turnTo(stream_.handle()));
  MTC_RETURN_IF_ERROR(
      stream_.accept(driver_.launchGraph(graphs_[kept.graph], stream_.handle()),
                     "cuGraphLaunch"));
  if (nccl_)
    nccl_->passedKept(stream_.handle(), kept.moved);
  return stream_.failure();
}

void CudaKeeper::drop() {
  for (GraphExec graph : std::exchange(graphs_, {}))
    (void)driver_.destroyGraphExec(graph);
}

Status CudaKeeper::hostMemory(int64_t bytes, std::byte *&out) {
  void *memory = nullptr;
  MTC_RETURN_IF_ERROR(driver_.check(
      driver_.allocateHost(&memory, static_cast<size_t>(bytes), 0),
      "cuMemHostAlloc", fmt::format("{} bytes of the host", bytes)));
  pinned_.push_back(memory);
  out = static_cast<std::byte *>(memory);
  stream_.addPinned(out, bytes);
  return Status::okay();
}

Status CudaKeeper::deviceMemory(int64_t bytes, void *&out) {
  auto memory = std::make_unique<CudaMemory>(driver_);
  const int64_t sizes[] = {bytes};
  MTC_RETURN_IF_ERROR(memory->allocate(sizes, "what the host sends of a step",
                                       stream_.handle()));
  out = pointerTo(memory->part(0));
  memory_.push_back(std::move(memory));
  return Status::okay();
}

Status CudaKeeper::send(void *to, const std::byte *from, int64_t bytes) {
  if (stream_.failed() || bytes == 0)
    return stream_.failure();
  return stream_.accept(driver_.copyIn(addressOf(to), from,
                                       static_cast<size_t>(bytes),
                                       stream_.handle()),
                        "cuMemcpyHtoDAsync");
}

Status CudaKeeper::take(runtime::ArenaOffset to, const void *from,
                        int64_t bytes) {
  return stream_.copyWithin(to, from, bytes);
}

} // namespace mtc::cuda
