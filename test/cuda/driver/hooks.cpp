//===- hooks.cpp - operations of other stand-ins --------------------------===//
#include "test/cuda/driver/hooks.h"

#include "test/cuda/driver/api.h"
#include "test/cuda/driver/calls.h"

#include <cstring>

using namespace mtc;
using namespace mtc::standin;

namespace {

struct HookWork : Work {
  std::string what;
  std::vector<MtcStandinRange> ranges;
  MtcStandinStep *step = nullptr;
  std::vector<std::max_align_t> arguments;
  bool begun = false;
  std::optional<ptx::Fault> failure;

  std::string name() const override { return what; }
  std::string facts() const override;
  /// Libraries put kernels into graphs.
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_KERNEL; }
  std::unique_ptr<Work> clone() const override {
    return std::make_unique<HookWork>(*this);
  }
  void start() override { call(MTC_STANDIN_START); }
  Progress run(std::optional<ptx::Fault> &fault) override;

  MtcStandinProgress call(MtcStandinPhase phase);
};

/// Whose step runs in this thread.
thread_local HookWork *running = nullptr;

std::string HookWork::facts() const {
  std::string text = what;
  for (const MtcStandinRange &each : ranges)
    text += std::string(each.reads ? " reads" : "") +
            (each.writes ? " writes " : " ") + std::to_string(each.bytes) +
            " at " + hex(each.address);
  return text;
}

MtcStandinProgress HookWork::call(MtcStandinPhase phase) {
  running = phase == MTC_STANDIN_RUN ? this : nullptr;
  Driver::inCallback = true;
  MtcStandinProgress progress = step(phase, arguments.data());
  Driver::inCallback = false;
  running = nullptr;
  return progress;
}

Progress HookWork::run(std::optional<ptx::Fault> &fault) {
  Driver &driver = Driver::get();
  auto touch = [&](bool writes) {
    for (const MtcStandinRange &each : ranges)
      if (!fault && (writes ? each.writes : each.reads))
        driver.touch(each.address, each.bytes,
                     writes ? ptx::Access::write : ptx::Access::read, what,
                     fault);
  };
  if (!begun) {
    driver.begin();
    touch(false);
    if (!fault)
      touch(true);
    begun = true;
  }
  if (fault)
    return Progress::done;
  MtcStandinProgress progress = call(MTC_STANDIN_RUN);
  fault = failure;
  return progress == MTC_STANDIN_AGAIN ? Progress::again : Progress::done;
}

} // namespace

CUresult mtcStandinEnqueue(CUstream handle, const char *name,
                           const MtcStandinRange *ranges, size_t count,
                           MtcStandinStep *step, const void *arguments,
                           size_t argumentBytes) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!name || !step || (count && !ranges))
      return CUDA_ERROR_INVALID_VALUE;
    auto work = std::make_unique<HookWork>();
    work->what = name;
    work->ranges.assign(ranges, ranges + count);
    work->step = step;
    constexpr size_t kWord = sizeof(std::max_align_t);
    work->arguments.resize((argumentBytes + kWord - 1) / kWord);
    if (argumentBytes)
      std::memcpy(work->arguments.data(), arguments, argumentBytes);
    return driver.submit(stream, std::move(work));
  });
}

void *mtcStandinBytes(CUdeviceptr address, size_t bytes) {
  if (!running)
    return nullptr;
  for (const MtcStandinRange &each : running->ranges) {
    if (address < each.address || address - each.address > each.bytes ||
        bytes > each.bytes - (address - each.address))
      continue;
    ptx::Allocation *found = Driver::get().memory.find(address, bytes);
    return found ? found->host + (address - found->base) : nullptr;
  }
  mtcStandinFail("bytes are asked for that the operation did not declare");
  return nullptr;
}

void mtcStandinFail(const char *sentence) {
  if (running && !running->failure)
    running->failure = ptx::Fault{ptx::FaultKind::trap, sentence};
}

int mtcStandinIsCapturing(CUstream handle) {
  bool captures = false;
  apiOf(handle, [&](Driver &, CUstream stream, Lock &) {
    captures = stream->capture != nullptr;
    return CUDA_SUCCESS;
  });
  return captures;
}

int mtcStandinIsIdle(void) {
  bool idle = true;
  api(Need::context, [&](Driver &driver, Lock &) {
    driver.schedule.runSomething();
    idle = driver.sticky || driver.schedule.idle(Driver::current->device);
    return CUDA_SUCCESS;
  });
  return idle;
}

const char *mtcStandinStreamName(CUstream handle) {
  const char *name = "a stream that is none";
  apiOf(handle, [&](Driver &, CUstream stream, Lock &) {
    name = stream->name.c_str();
    return CUDA_SUCCESS;
  });
  return name;
}
