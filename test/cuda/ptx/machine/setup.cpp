//===- setup.cpp - blocks before they run ---------------------------------===//
#include "test/cuda/ptx/machine/setup.h"

#include <algorithm>
#include <numeric>

namespace mtc::ptx {
namespace {

/// Grids up to here are shuffled.
constexpr uint64_t kListed = 1 << 20;

constexpr size_t kLine = 64;
/// Of tags of shared memory; 0 is nobody.
constexpr uint32_t kLastSequence = 0xfffff;

void fill(Warp &warp, uint32_t place, uint8_t slot, uint64_t value) {
  if (slot == 0)
    warp.mask(place) = value ? kAllLanes : 0;
  else if (slot == 8)
    std::fill_n(warp.slots<uint64_t>(place), kLanes, value);
  else
    std::fill_n(warp.slots<uint32_t>(place), kLanes, uint32_t(value));
}

/// Those that are the same in all blocks of a launch.
bool isOfLaunch(Special what) {
  return what != Special::ctaidX && what != Special::ctaidY &&
         what != Special::ctaidZ && what != Special::smid;
}

void fillConstants(Block &block) {
  for (Warp &warp : block.warps)
    for (const Constant &each : block.code.constants) {
      uint64_t bits = each.bits;
      if (each.variable >= 0 && block.launch.globals)
        bits += block.launch.globals->places()[size_t(each.variable)].address;
      fill(warp, each.place, each.slot, bits);
    }
}

uint64_t valueOf(Special what, const Block &block, const Warp &warp, int lane) {
  const Extent &grid = block.launch.grid, &dim = block.launch.block;
  Extent thread = block.threadAt(uint32_t(warp.index * kLanes + lane));
  uint32_t self = 1u << lane;
  switch (what) {
  case Special::tidX:
    return thread.x;
  case Special::tidY:
    return thread.y;
  case Special::tidZ:
    return thread.z;
  case Special::ntidX:
    return dim.x;
  case Special::ntidY:
    return dim.y;
  case Special::ntidZ:
    return dim.z;
  case Special::ctaidX:
    return block.place.x;
  case Special::ctaidY:
    return block.place.y;
  case Special::ctaidZ:
    return block.place.z;
  case Special::nctaidX:
    return grid.x;
  case Special::nctaidY:
    return grid.y;
  case Special::nctaidZ:
    return grid.z;
  case Special::laneid:
    return uint64_t(lane);
  case Special::warpid:
    return uint64_t(warp.index);
  case Special::nwarpid:
    return block.warps.size();
  case Special::smid:
    return block.number % 132;
  case Special::nsmid:
    return 132;
  case Special::gridid:
  case Special::one:
    return 1;
  case Special::lanemaskEq:
    return self;
  case Special::lanemaskLe:
    return self | (self - 1);
  case Special::lanemaskLt:
    return self - 1;
  case Special::lanemaskGe:
    return uint32_t(~(self - 1));
  case Special::lanemaskGt:
    return uint32_t(~(self | (self - 1)));
  case Special::dynamicShared:
    return block.launch.dynamicShared;
  case Special::totalShared:
    return block.shared.size();
  case Special::clock: // a time is read by an instruction of its own
  case Special::zero:
    break;
  }
  return 0;
}

void fillSpecials(Block &block, Warp &warp) {
  for (const FilledSpecial &each : block.code.specials)
    for (int l = 0; isOfLaunch(each.what) && l < kLanes; ++l)
      warp.write(each.place, each.slot, l, valueOf(each.what, block, warp, l));
}

/// Registers start as garbage: a hash of places and of a number of the
/// generator for each warp, in words that compilers make vectors of. Orders are
/// as if each eight bytes of the files were a number of the generator.
void fillFiles(Block &block, size_t each) {
  size_t words = each / sizeof(uint32_t);
  Random garbage = block.random;
  block.random.skip((each * block.warps.size() + kLine) / sizeof(uint64_t));
  for (Warp &warp : block.warps) {
    auto *file = reinterpret_cast<uint32_t *>(warp.file);
    auto start = uint32_t(garbage.next());
    for (size_t k = 0; k < words; ++k) {
      uint32_t z = start + uint32_t(k) * 0x9e3779b9u;
      z = (z ^ (z >> 16)) * 0x85ebca6bu;
      z = (z ^ (z >> 13)) * 0xc2b2ae35u;
      file[k] = z ^ (z >> 16);
    }
  }
}

/// The memory of the launch before, of the size that this one has.
void sizeMemory(Block &block, size_t warps) {
  size_t shared = block.launch.kernel.sharedBytes + block.launch.dynamicShared;
  block.shared.resize(shared);
  block.sharedStates.resize(shared);
  // Tags of blocks that came before are those of other operations.
  if (block.sharedTouched.writers.size() < (shared + 1) / 2)
    block.sharedTouched.reset(shared);
  block.sharedTouched.readers[kTileReaders].clear();
  block.tileReaders.clear();
  if (!block.code.products.empty()) {
    block.tileReaders.resize((shared + kChunk - 1) / kChunk);
    block.warpgroups.resize((warps + kWarpsOfGroup - 1) / kWarpsOfGroup);
  }
  block.local.resize(warps * kLanes * block.launch.kernel.localBytes);
  block.localStates.resize(block.local.size());
}

void startWarp(Block &block, Warp &warp) {
  uint32_t in =
      std::min<uint32_t>(kLanes, block.threads - uint32_t(warp.index * kLanes));
  warp.born = warp.live = warp.lanes =
      in == kLanes ? kAllLanes : (1u << in) - 1;
  warp.pc = 0;
  warp.parked = warp.waits = false;
  warp.others.clear();
  warp.copies.clear();
  std::fill_n(warp.groups, kLanes, 0);
  warp.at = nullptr;
  warp.flight.reset(block.code.watched.size());
  warp.proxyFences.clear();
  warp.carry = 0;
  warp.clock = {};
  warp.active = 0;
  std::fill_n(warp.selected, kLanes, 0);
  warp.passTime();
  for (const TrackedRegister &each : block.code.tracked)
    warp.mask(each.mask) = 0;
  for (const FilledSpecial &each : block.code.specials)
    if (!isOfLaunch(each.what))
      fill(warp, each.place, each.slot, valueOf(each.what, block, warp, 0));
}

} // namespace

void setUp(Block &block) {
  size_t warps = (block.threads + kLanes - 1) / kLanes;
  size_t each = (block.code.fileBytes + kLine - 1) / kLine * kLine;
  std::vector<std::byte> &files = block.kept.files;
  if (files.size() < warps * each + kLine)
    files.resize(warps * each + kLine);
  auto start = reinterpret_cast<uintptr_t>(files.data());
  std::byte *aligned = files.data() + (kLine - start % kLine) % kLine;
  block.warps.resize(warps);
  for (size_t k = 0; k < warps; ++k) {
    block.warps[k].file = aligned + k * each;
    block.warps[k].block = &block;
    block.warps[k].index = int(k);
  }
  fillFiles(block, each);
  fillConstants(block);
  block.recent.assign(block.code.instructions.size(), nullptr);
  sizeMemory(block, warps);
  for (Warp &warp : block.warps)
    fillSpecials(block, warp);
}

void startBlock(Block &block, uint64_t number) {
  const Extent &grid = block.launch.grid;
  block.number = uint32_t(number);
  block.place = {uint32_t(number % grid.x), uint32_t(number / grid.x % grid.y),
                 uint32_t(number / grid.x / grid.y)};
  if (block.kept.sequence == kLastSequence) { // those of long ago are forgotten
    block.kept.sequence = 0;
    block.sharedTouched.reset(2 * block.sharedTouched.writers.size());
  }
  ++block.kept.sequence;
  std::fill(block.shared.begin(), block.shared.end(), std::byte(0xff));
  std::fill(block.sharedStates.begin(), block.sharedStates.end(),
            ByteState::unwritten);
  std::fill(block.localStates.begin(), block.localStates.end(),
            ByteState::unwritten);
  block.barriers = {};
  std::fill(block.tileReaders.begin(), block.tileReaders.end(), 0);
  for (Warpgroup &each : block.warpgroups)
    each = {};
  for (Warp &each : block.warps)
    startWarp(block, each);
}

BlockOrder::BlockOrder(uint64_t count, Random &random) : count_(count) {
  first_ = random.below(count);
  step_ = 1 + random.below(count);
  while (std::gcd(step_, count) != 1)
    step_ = step_ % count + 1;
  if (count > kListed)
    return;
  list_.resize(count);
  std::iota(list_.begin(), list_.end(), 0u);
  for (uint64_t k = count; k > 1; --k)
    std::swap(list_[k - 1], list_[random.below(k)]);
}

uint64_t BlockOrder::at(uint64_t k) const {
  if (!list_.empty())
    return list_[k];
  return uint64_t((first_ + (unsigned __int128)(k)*step_) % count_);
}

} // namespace mtc::ptx
