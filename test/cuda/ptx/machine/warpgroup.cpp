//===- warpgroup.cpp - four warps that multiply together ------------------===//
//
// Warps run one after the other: the first one of a group to come to a product
// leaves word of it, which the others are compared with.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/machine/warpgroup.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

constexpr uint32_t kAllCame = (1u << kWarpsOfGroup) - 1;

/// A descriptor that is the same in all lanes.
bool commonDescriptor(Warp &warp, const Instruction &by, uint32_t place,
                      uint64_t &value) {
  const uint64_t *slots = warp.slots<uint64_t>(place);
  value = slots[0];
  return allLanes(kAllLanes, [&](int l) {
    return slots[l] == value ||
           warp.fail(FaultKind::warpgroupMismatch, by,
                     fmt::format("matrix descriptors 0x{:016x} and 0x{:016x} "
                                 "of one warp",
                                 value, slots[l]),
                     l);
  });
}

bool tileOf(Warp &warp, const Instruction &by, uint64_t descriptor,
            unsigned extent, bool transposed, std::string_view whose,
            std::optional<MatrixTile> &tile) {
  tile.emplace(descriptor, extent, transposed);
  std::string problem = tile->problem();
  return problem.empty() ||
         warp.fail(FaultKind::matrixDescriptor, by,
                   fmt::format("the descriptor of {}: {}", whose, problem), 0);
}

bool isSame(Warp &warp, const Instruction &by, const OpenProduct &first,
            const OpenProduct &now, uint64_t number) {
  auto fail = [&](const std::string &sentence) {
    return warp.fail(
        FaultKind::warpgroupMismatch, by,
        fmt::format("{}, for product {} of this warpgroup", sentence, number),
        0);
  };
  if (first.by != now.by)
    return fail(fmt::format("other warps are at line {}", first.by->line));
  if (first.left != now.left || first.right != now.right)
    return fail(fmt::format("matrix descriptors 0x{:016x} and 0x{:016x}, and "
                            "of other warps 0x{:016x} and 0x{:016x}",
                            now.left, now.right, first.left, first.right));
  return first.scaled == now.scaled ||
         fail("the scale of D is not that of other warps");
}

bool join(Warp &warp, const OpenProduct &now) {
  Block &block = *warp.block;
  Warpgroup &group = block.warpgroups[size_t(warp.index / kWarpsOfGroup)];
  uint64_t number = warp.flight.started++;
  auto at = size_t(number - group.complete);
  if (at == group.open.size())
    group.open.push_back(now);
  OpenProduct &entry = group.open[at];
  if (!isSame(warp, *now.by, entry, now, number))
    return false;
  entry.came |= now.came;
  size_t complete = 0;
  while (complete < group.open.size() && group.open[complete].came == kAllCame)
    ++complete;
  group.open.erase(group.open.begin(), group.open.begin() + long(complete));
  group.complete += complete;
  return true;
}

} // namespace

bool comeToProduct(Warp &warp, const Instruction &by, Factors &factors) {
  Block &block = *warp.block;
  const WarpgroupProduct &product = block.code.products[by.target];
  int first = warp.index / kWarpsOfGroup * kWarpsOfGroup;
  if (size_t(first + kWarpsOfGroup) > block.warps.size())
    return warp.fail(FaultKind::missingLanes, by,
                     fmt::format("a warpgroup is of warps {} to {}, and the "
                                 "block has {}",
                                 first, first + kWarpsOfGroup - 1,
                                 block.warps.size()),
                     0);
  uint32_t scale =
      warp.mask(by.from[by.fromCount - 1u]) ^ (by.flag ? kAllLanes : 0);
  if (scale && scale != kAllLanes)
    return warp.fail(FaultKind::warpgroupMismatch, by,
                     fmt::format("D is scaled by lanes {:08x} only", scale),
                     __builtin_ctz(~scale));
  factors.scaled = scale;
  OpenProduct now{&by, 0, 0, factors.scaled, 1u << warp.index % kWarpsOfGroup};
  bool inMemory = product.left.empty();
  if ((inMemory && !commonDescriptor(warp, by, product.leftTile, now.left)) ||
      !commonDescriptor(warp, by, product.rightTile, now.right))
    return false;
  if (inMemory && !tileOf(warp, by, now.left, kRowsOfGroup,
                          product.leftTransposed, "A", factors.left))
    return false;
  return tileOf(warp, by, now.right, product.columns, product.rightTransposed,
                "B", factors.right) &&
         join(warp, now);
}

bool allCame(Block &block) {
  for (size_t g = 0; g < block.warpgroups.size(); ++g) {
    const auto &open = block.warpgroups[g].open;
    if (open.empty())
      continue;
    uint32_t came = open[0].came;
    int first = int(g) * kWarpsOfGroup;
    Warp &one = block.warps[size_t(first + __builtin_ctz(came))];
    std::string missing;
    for (int k = 0; k < kWarpsOfGroup; ++k)
      if (!(came >> k & 1))
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", first + k);
    return one.fail(FaultKind::missingLanes, *open[0].by,
                    fmt::format("of the warpgroup of warps {} to {} these did "
                                "not come: {}",
                                first, first + kWarpsOfGroup - 1, missing),
                    0);
  }
  return true;
}

} // namespace mtc::ptx
