//===- product_tiles.cpp - shared memory that products read ---------------===//
//
// Every warp of a group reads all of both tiles: who reads which part of them
// is nowhere written down. Bytes of a tile are ByteState::beingRead until the
// last product in flight that has them is waited for; from then on they are
// read as by one thread of each warp, whose lanes no barrier need order.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/machine/access.h"
#include "test/cuda/ptx/machine/warpgroup.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::ptx {
namespace {

constexpr unsigned kGranules = kChunk / 2;

/// Lanes of a warp that made what they wrote at a time visible to wgmma, by a
/// fence that `known`, a time of that warp, tells of.
uint32_t visibleLanes(const Warp &writer, uint32_t time, uint32_t known) {
  const auto &fences = writer.proxyFences;
  auto it = std::lower_bound(
      fences.begin(), fences.end(), time,
      [](const ProxyFence &each, uint32_t t) { return each.time < t; });
  uint32_t lanes = 0;
  for (; it != fences.end() && it->time < known && lanes != kAllLanes; ++it)
    lanes |= it->lanes;
  return lanes;
}

class TileReader {
public:
  TileReader(Warp &warp, const Instruction &by)
      : warp_(warp), block_(*warp.block),
        by_(by), now_{warp.sharedTag, &warp.clock, false} {}

  bool take(const MatrixTile &tile) {
    for (unsigned c = 0; c < tile.chunks(); ++c)
      if (!takeChunk(tile.addressOf(c)))
        return false;
    return true;
  }

private:
  bool fail(FaultKind kind, uint32_t address, const std::string &sentence) {
    return warp_.fail(
        kind, by_, fmt::format("shared address {}: {}", address, sentence), 0);
  }

  bool takeChunk(uint32_t address) {
    size_t at = address - kSharedBase;
    if (address < kSharedBase || at + kChunk > block_.shared.size())
      return fail(FaultKind::outOfBounds, address,
                  fmt::format("16 bytes of a tile: the block has {} from {} on",
                              block_.shared.size(), kSharedBase));
    if (!statesPass(address) ||
        (block_.memory.rules().races && !writersPass(address)))
      return false;
    std::fill_n(&block_.sharedStates[at], kChunk, ByteState::beingRead);
    block_.tileReaders[at / kChunk] |= 1u << warp_.index;
    return true;
  }

  bool statesPass(uint32_t address) {
    const ByteState *states = &block_.sharedStates[address - kSharedBase];
    for (unsigned k = 0; k < kChunk; ++k) {
      if (states[k] == ByteState::pending)
        return fail(FaultKind::pendingCopy, address + k,
                    "wgmma reads it, and a cp.async to it is not waited for");
      if (states[k] == ByteState::unwritten &&
          !block_.options.readUnwrittenShared)
        return fail(FaultKind::uninitialised, address + k,
                    "wgmma reads it, and it was never written");
    }
    return true;
  }

  bool writersPass(uint32_t address) {
    size_t first = (address - kSharedBase) / 2;
    for (size_t g = first; g < first + kGranules; ++g) {
      Tag writer{block_.sharedTouched.writers[g]};
      if (writer.bits == good_.bits)
        continue;
      if (writer.operation() == now_.tag.operation() &&
          !writerPasses(writer, kSharedBase + uint32_t(2 * g)))
        return false;
      good_ = writer;
    }
    return true;
  }

  bool writerPasses(Tag writer, uint32_t address) {
    if (conflictOf(writer, now_, false) != Conflict::none)
      return fail(FaultKind::sharedRace, address,
                  fmt::format("it is read by wgmma here and written by {}: no "
                              "barrier lies between",
                              threadOf(writer, block_)));
    if (writer.crowd() > Crowd::lanes)
      return fail(FaultKind::missingFence, address,
                  "several warps wrote it by atomics, and whether each of them "
                  "made it visible to wgmma is not known here");
    const Warp &other = block_.warps[size_t(writer.warp())];
    uint32_t latest = other.clock.times[size_t(writer.warp())];
    uint32_t time = latest - ((latest - writer.time()) & kTimes);
    uint32_t lanes =
        visibleLanes(other, time, warp_.clock.times[size_t(writer.warp())]);
    uint32_t needed =
        writer.crowd() == Crowd::lanes ? kAllLanes : 1u << writer.lane();
    if ((lanes & needed) == needed)
      return true;
    return fail(FaultKind::missingFence, address,
                fmt::format("it is read by wgmma here and written by {}, which "
                            "executed no fence.proxy.async between its write "
                            "and the barrier",
                            threadOf(writer, block_)));
  }

  static constexpr uint32_t kTimes = 0x7fff; ///< of tags
  Warp &warp_;
  Block &block_;
  const Instruction &by_;
  Toucher now_;
  Tag good_; ///< the last one that passed
};

/// Bytes of tiles, each of which this warp read.
void release(Warp &warp, const MatrixTile &tile) {
  Block &block = *warp.block;
  bool noted = block.memory.rules().races;
  uint64_t *readers = block.sharedTouched.readersOf(kTileReaders).data();
  Toucher now{warp.sharedTag, &warp.clock, false};
  for (unsigned c = 0; c < tile.chunks(); ++c) {
    size_t at = tile.addressOf(c) - kSharedBase;
    uint32_t &mask = block.tileReaders[at / kChunk];
    mask &= ~(1u << warp.index);
    if (!mask)
      std::fill_n(&block.sharedStates[at], kChunk, ByteState::written);
    for (size_t g = at / 2; noted && g < at / 2 + kGranules; ++g)
      if (readers[g] != now.tag.bits)
        readers[g] = together(Tag{readers[g]}, now).bits;
  }
}

/// Bytes of products that are still in flight.
void keep(Warp &warp, const MatrixTile &tile) {
  Block &block = *warp.block;
  for (unsigned c = 0; c < tile.chunks(); ++c) {
    size_t at = tile.addressOf(c) - kSharedBase;
    std::fill_n(&block.sharedStates[at], kChunk, ByteState::beingRead);
    block.tileReaders[at / kChunk] |= 1u << warp.index;
  }
}

} // namespace

bool takeTiles(Warp &warp, const Instruction &by, const Factors &factors) {
  TileReader reader(warp, by);
  ProductInFlight product{&by, warp.flight.group, {}};
  for (const auto *each : {&factors.left, &factors.right}) {
    if (!*each)
      continue;
    if (!reader.take(**each))
      return false;
    product.tiles.push_back(**each);
  }
  warp.flight.products.push_back(std::move(product));
  return true;
}

void finishProducts(Warp &warp, uint32_t group) {
  auto &products = warp.flight.products;
  warp.flight.waited = std::max(warp.flight.waited, group);
  auto rest = std::stable_partition(
      products.begin(), products.end(),
      [&](const ProductInFlight &each) { return each.group < group; });
  if (rest == products.begin())
    return;
  for (auto it = products.begin(); it != rest; ++it)
    for (const MatrixTile &each : it->tiles)
      release(warp, each);
  products.erase(products.begin(), rest);
  for (const ProductInFlight &product : products)
    for (const MatrixTile &each : product.tiles)
      keep(warp, each);
}

} // namespace mtc::ptx
