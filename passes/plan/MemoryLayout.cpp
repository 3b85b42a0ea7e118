//===- MemoryLayout.cpp - offsets of buckets, slots and temporaries -------===//
#include "passes/plan/MemoryLayout.h"
#include "passes/plan/KeptValues.h"

#include "dialects/pipe/Pipe.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace mtc::passes {

static void layOutPacked(rt::ProgramOp program, ProgramLayout &layout) {
  int64_t bytes = 0;
  for (auto packed : program.getOps<rt::PackedOp>()) {
    packed.setOffset(bytes);
    bytes = alignTo(bytes + static_cast<int64_t>(packed.getBytes()), kAlign);
  }
  layout.packedBytes = alignTo(bytes, kPage);
}

static void layOutBucketArenas(rt::ProgramOp program, ProgramLayout &layout) {
  int64_t params = 0, grads = 0, optimizer = 0;
  for (auto bucket : program.getOps<rt::BucketOp>()) {
    int64_t elements = bucket.getElements();
    int64_t shard = 4 * bucket.getShard();
    bucket.setGradOffset(grads);
    grads = alignTo(grads + bucket.gradBytes() * bucket.gradElements(), kAlign);
    if (bucket.isSecondUse())
      continue;
    bucket.setParamOffset(params);
    params = alignTo(params + bucket.paramBytes() * elements, kAlign);
    SmallVector<int64_t> states;
    for (size_t i = 0; i < bucket.stateNames().size(); ++i) {
      states.push_back(optimizer);
      optimizer = alignTo(optimizer + shard, kAlign);
    }
    bucket.setStateOffsets(states);
  }
  layout.lossOffset = grads;
  layout.paramBytes = alignTo(params, kPage);
  layout.gradBytes = alignTo(grads + kAlign, kPage);
  layout.optimizerBytes = alignTo(optimizer, kPage);
}

/// Sizes of what crosses stages, from the boundary ops.
static void layOutCrossings(rt::ProgramOp program, ProgramLayout &layout) {
  auto grow = [&](MtcPool pool, Type type) {
    layout.pools[pool].stride =
        std::max(layout.pools[pool].stride, alignTo(bytesOf(type), kAlign));
  };
  program.walk([&](Operation *op) {
    if (auto r = dyn_cast<pipe::ReceivedOp>(op))
      grow(receivePool(r.getName()), r.getType());
    else if (auto s = dyn_cast<pipe::SendOp>(op))
      grow(sendPool(s.getName()), s.getValue().getType());
  });
}

MtcPool ProgramLayout::inputPool(pipe::FragmentAttr of) const {
  bool isAgain = of.isOf(pipe::Form::Recompute);
  return isAgain ? *inputPools.rbegin() : *inputPools.begin();
}

ProgramLayout layOutProgram(rt::ProgramOp program) {
  ProgramLayout layout;
  layOutBucketArenas(program, layout);
  layOutPacked(program, layout);
  layOutCrossings(program, layout);
  layOutKept(program, layout);
  for (auto timeline : program.getOps<pipe::TimelineOp>())
    for (auto [pool, count] : timeline.getPools().entries())
      layout.pools[pool].count = std::max(layout.pools[pool].count, count);
  for (MtcPool pool : layout.inputPools) // eval saves nothing but needs inputs
    layout.pools[pool].count = std::max<int64_t>(layout.pools[pool].count, 1);
  int64_t at = 0;
  for (auto &[id, pool] : layout.pools) {
    pool.base = at;
    at += pool.stride * pool.count;
  }
  layout.activationBytes = alignTo(at, kPage);
  return layout;
}

int64_t placeTemporaries(std::vector<Lifetime> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return values[a].bytes > values[b].bytes;
  });
  int64_t total = 0;
  std::vector<size_t> placed;
  for (size_t index : order) {
    Lifetime &v = values[index];
    std::vector<std::pair<int64_t, int64_t>> busy;
    for (size_t other : placed)
      if (values[other].begin <= v.end && v.begin <= values[other].end)
        busy.push_back(
            {values[other].offset, values[other].offset + values[other].bytes});
    std::sort(busy.begin(), busy.end());
    int64_t at = 0;
    for (auto [from, to] : busy) {
      if (from >= at + v.bytes)
        break;
      at = std::max(at, alignTo(to, kAlign));
    }
    v.offset = at;
    total = std::max(total, at + v.bytes);
    placed.push_back(index);
  }
  return total;
}

} // namespace mtc::passes
