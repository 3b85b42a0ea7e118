//===- async_copy.cpp - cp.async ------------------------------------------===//
//
// A device copies at some time between the instruction and its wait. Here all
// arrive at the wait: who does not wait finds bytes that are on their way.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/quick.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::ptx {
namespace {

/// i.variant: what the fourth operand is.
enum Last : uint8_t { none, sourceBytes, ignoresSource };

/// Some bytes of global memory, checked, to `values` unless that is null.
bool readSource(Warp &warp, const Instruction &by, Address from, uint32_t bytes,
                int lane, std::byte *values) {
  bool whole = bytes == 4 || bytes == 8 || bytes == 16;
  uint32_t step = whole ? bytes : 1;
  for (uint32_t k = 0; k < bytes; k += step) {
    std::byte *at =
        access(warp, by, Space::global, from + k, step, Access::read, lane);
    if (!at)
      return false;
    if (values)
      std::memcpy(values + k, at, step);
  }
  return true;
}

/// Both sides of the copies of one instruction.
template <unsigned Bytes> struct Sides {
  Sides(Warp &warp, const Instruction &by, Address from)
      : source(warp, by, Space::global, from, Bytes, /*writes=*/false),
        target(warp, by, Space::shared, 0, Bytes, /*writes=*/true) {}

  /// Where all bytes of a source are; null: readSource() is to be asked.
  const std::byte *whole(const PendingCopy &copy) {
    return copy.sourceBytes == Bytes ? source.read<Bytes>(copy.from, copy.lane)
                                     : nullptr;
  }

  Quick source, target;
};

template <unsigned Bytes>
bool expect(Warp &warp, Sides<Bytes> &sides, const PendingCopy &copy) {
  if (!sides.whole(copy) && !readSource(warp, *copy.by, copy.from,
                                        copy.sourceBytes, copy.lane, nullptr))
    return false;
  warp.copies.push_back(copy);
  if (!sides.target.template write<Bytes>(copy.to, copy.lane))
    return expectCopy(warp, *copy.by, copy.to, Bytes, copy.lane);
  std::fill_n(&warp.block->sharedStates[copy.to - kSharedBase], Bytes,
              ByteState::pending);
  return true;
}

template <unsigned Bytes> bool issue(Warp &warp, const Instruction &i) {
  Sides<Bytes> sides(warp, i, someAddress(warp, i.from[1], i.vector, i.second));
  return allLanes(warp.active, [&](int l) {
    uint64_t to = addressOf(warp, i.from[0], i.base, i.immediate, l);
    uint64_t from = addressOf(warp, i.from[1], i.vector, i.second, l);
    uint32_t source = Bytes;
    if (i.variant == sourceBytes)
      source = warp.slots<uint32_t>(i.from[2])[l];
    if (i.variant == ignoresSource &&
        (warp.mask(i.from[2]) ^ (i.flag ? ~0u : 0)) >> l & 1)
      source = 0;
    if (source > Bytes)
      return warp.fail(
          FaultKind::outOfBounds, i,
          fmt::format("{} source bytes of a copy of {}", source, Bytes), l);
    if (from % Bytes)
      return warp.fail(FaultKind::misaligned, i,
                       fmt::format("global address 0x{:x} is no multiple of {}",
                                   from, Bytes),
                       l);
    return expect(warp, sides,
                  {to, from, Bytes, source, l, warp.groups[l], &i});
  });
}

bool commit(Warp &warp, const Instruction &) {
  forLanes(warp.active, [&](int l) { ++warp.groups[l]; });
  return true;
}

template <unsigned Bytes>
bool finish(Warp &warp, Sides<Bytes> &sides, const PendingCopy &copy) {
  std::byte values[Bytes] = {};
  if (const std::byte *at = sides.whole(copy))
    std::memcpy(values, at, Bytes);
  else if (!readSource(warp, *copy.by, copy.from, copy.sourceBytes, copy.lane,
                       values))
    return false;
  std::fill_n(&warp.block->sharedStates[copy.to - kSharedBase], Bytes,
              ByteState::written);
  std::byte *to = sides.target.template write<Bytes>(copy.to, copy.lane);
  if (!to)
    to = arriveCopy(warp, *copy.by, copy.to, Bytes, copy.lane);
  if (to)
    std::memcpy(to, values, Bytes);
  return to != nullptr;
}

/// Copies of one instruction; where the next ones begin, or null: a fault.
template <unsigned Bytes>
const PendingCopy *finishSome(Warp &warp, const PendingCopy *it,
                              const PendingCopy *end) {
  const Instruction *by = it->by;
  Sides<Bytes> sides(warp, *by, it->from);
  for (; it != end && it->by == by; ++it)
    if (!finish(warp, sides, *it))
      return nullptr;
  return it;
}

/// False: a fault. There may be none at all.
bool finishAll(Warp &warp, const PendingCopy *it, const PendingCopy *end) {
  while (it != end) {
    it = it->bytes == 4   ? finishSome<4>(warp, it, end)
         : it->bytes == 8 ? finishSome<8>(warp, it, end)
                          : finishSome<16>(warp, it, end);
    if (!it)
      return false;
  }
  return true;
}

/// All but the last `immediate` groups of each lane; of wait_all also what is
/// in no group yet.
bool wait(Warp &warp, const Instruction &i) {
  auto arrives = [&](const PendingCopy &copy) {
    if (!(warp.active >> copy.lane & 1))
      return false;
    return i.flag ||
           int64_t(copy.group) < int64_t(warp.groups[copy.lane]) - i.immediate;
  };
  auto rest = std::stable_partition(
      warp.copies.begin(), warp.copies.end(),
      [&](const PendingCopy &each) { return arrives(each); });
  const PendingCopy *first = warp.copies.data();
  bool good = finishAll(warp, first, first + (rest - warp.copies.begin()));
  warp.copies.erase(warp.copies.begin(), rest);
  return good;
}

void takeHints(Builder &b) { b.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}); }

void decodeIssue(Builder &b) {
  bool cached = !b.expectOneOf({"ca", "cg"});
  if (!b.takeOneOf({"shared", "shared::cta"}))
    b.expectOneOf({"shared"});
  b.expectOneOf({"global"});
  takeHints(b);
  b.endModifiers();
  b.address(Space::shared);
  uint8_t sharedBase = b.out.base;
  b.secondAddress(Space::global);
  b.out.base = sharedBase;
  b.out.vector = b.out.slot; // the base of the second address
  int64_t bytes = b.integer("a number of bytes");
  if (bytes != 16 && (!cached || (bytes != 4 && bytes != 8)))
    b.problem("cp.async: expected 4, 8 or 16 bytes, of .cg 16");
  b.out.slot = uint8_t(bytes & 31);
  if (const Operand *last = b.peek()) {
    if (last->kind == Operand::Kind::integer && last->bits > uint64_t(bytes))
      b.problem("cp.async: more source bytes than the copy has");
    bool isPredicate =
        last->kind == Operand::Kind::reg &&
        b.context().function.registers[last->index].type == Type::pred;
    b.out.variant = isPredicate ? ignoresSource : sourceBytes;
    if (isPredicate)
      b.fromPredicate();
    else
      b.from(Type::u32);
  }
  b.endOperands();
  b.out.run = bytes == 4 ? issue<4> : bytes == 8 ? issue<8> : issue<16>;
}

} // namespace

void decodeCp(Builder &b) {
  if (!b.take("async"))
    b.expectOneOf({"async"});
  b.needs(80, 70);
  if (b.comes("bulk") || b.comes("mbarrier") || b.comes("reduce"))
    return b.problem("cp.async: neither bulk copies nor mbarriers are known "
                     "here");
  if (b.take("commit_group")) {
    b.out.run = commit;
  } else if (b.take("wait_group")) {
    b.out.run = wait;
    b.out.immediate = b.integer("a number of groups");
  } else if (b.take("wait_all")) {
    b.out.run = wait;
    b.out.flag = true;
  } else {
    return decodeIssue(b);
  }
  b.endModifiers();
  b.endOperands();
}

} // namespace mtc::ptx
