//===- warpgroup_order.cpp - fences, groups and waits of wgmma ------------===//
#include "test/cuda/ptx/families/warpgroup.h"
#include "test/cuda/ptx/machine/warpgroup.h"

namespace mtc::ptx {

bool fenceProducts(Warp &warp, const Instruction &) {
  ++warp.flight.fences;
  return true;
}

bool commitProducts(Warp &warp, const Instruction &) {
  ++warp.flight.group;
  return true;
}

/// All but the last `immediate` groups; products of no group yet go on.
bool waitForProducts(Warp &warp, const Instruction &i) {
  if (i.immediate < int64_t(warp.flight.group))
    finishProducts(warp, warp.flight.group - uint32_t(i.immediate));
  return true;
}

/// What a warp does from now on is not visible by this fence, so time passes;
/// its lanes are as much apart as before.
bool fenceProxy(Warp &warp, const Instruction &) {
  warp.proxyFences.push_back(
      {warp.clock.times[size_t(warp.index)], warp.active});
  warp.passTimeApart();
  return true;
}

} // namespace mtc::ptx
