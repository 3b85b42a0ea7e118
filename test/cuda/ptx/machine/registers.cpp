//===- registers.cpp - when registers may be read and written -------------===//
#include "test/cuda/ptx/machine/registers.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

bool isInFlight(const Warp &warp, const WatchedRegister &reg) {
  return reg.by && reg.group >= warp.flight.waited;
}

class Taker {
public:
  Taker(Warp &warp, const Instruction &by) : warp_(warp), by_(by) {}

  bool take(uint32_t number, bool isSum, unsigned position) {
    WatchedRegister &reg = warp_.flight.registers[number];
    uint32_t now = warp_.flight.fences;
    // One sum after the other, of one shape, comes in order by itself; so do
    // two looks at A.
    bool follows = reg.by && reg.isSum == isSum &&
                   (!isSum || (shapeOf(*reg.by) == shapeOf(by_) &&
                               reg.position == position));
    if (isInFlight(warp_, reg) && !follows)
      return fail(FaultKind::pendingProduct, number,
                  fmt::format("a wgmma at line {} has it in another role or "
                              "shape, and is not waited for",
                              reg.by->line));
    if (reg.touched == now)
      return fail(FaultKind::missingFence, number,
                  now == 0 ? "no wgmma.fence comes before this, the first one"
                           : "it was touched behind the last wgmma.fence");
    if (reg.by && !follows && reg.used == now)
      return fail(FaultKind::missingFence, number,
                  fmt::format("no wgmma.fence lies between this and line {}, "
                              "which has it in another role or shape",
                              reg.by->line));
    reg.by = &by_;
    reg.group = warp_.flight.group;
    reg.used = now;
    reg.isSum = isSum;
    reg.position = position;
    return true;
  }

private:
  unsigned shapeOf(const Instruction &i) const {
    return warp_.block->code.products[i.target].columns;
  }
  bool fail(FaultKind kind, uint32_t number, const std::string &why) {
    return warp_.fail(kind, by_,
                      fmt::format("{} is used by wgmma here: {}",
                                  warp_.block->code.watched[number], why),
                      0);
  }

  Warp &warp_;
  const Instruction &by_;
};

} // namespace

bool isWritten(Warp &warp, const Instruction &by, uint32_t tracked,
               uint32_t lanes) {
  const TrackedRegister &reg = warp.block->code.tracked[tracked];
  uint32_t missing = lanes & ~warp.mask(reg.mask);
  const LaunchOptions &options = warp.block->options;
  if (!missing || options.readUnwrittenRegisters ||
      (reg.half && options.readUnwrittenHalves))
    return true;
  return warp.fail(FaultKind::unwrittenRegister, by,
                   fmt::format("{} is read and was not written", reg.name),
                   __builtin_ctz(missing));
}

bool touchWatched(Warp &warp, const Instruction &by) {
  for (uint32_t each : warp.block->code.watches[by.watch]) {
    WatchedRegister &reg = warp.flight.registers[each];
    if (isInFlight(warp, reg))
      return warp.fail(
          FaultKind::pendingProduct, by,
          fmt::format("{} is touched here, and the wgmma at line {} that has "
                      "it is not waited for",
                      warp.block->code.watched[each], reg.by->line),
          __builtin_ctz(warp.active));
    reg.touched = warp.flight.fences;
  }
  return true;
}

bool takeRegisters(Warp &warp, const Instruction &by, bool scaled) {
  const Code &code = warp.block->code;
  const WarpgroupProduct &product = code.products[by.target];
  if (by.tracked && scaled)
    for (uint32_t each : code.tracking[by.tracking].sums)
      if (!isWritten(warp, by, each, warp.active))
        return false;
  Taker taker(warp, by);
  for (uint32_t each : product.watchedLeft)
    if (!taker.take(each, false, 0))
      return false;
  for (unsigned k = 0; k < product.watchedSums.size(); ++k)
    if (!taker.take(product.watchedSums[k], true, k))
      return false;
  return true;
}

} // namespace mtc::ptx
