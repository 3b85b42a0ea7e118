//===- access.cpp - checked accesses of lanes to memory -------------------===//
#include "test/cuda/ptx/machine/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace mtc::ptx {
namespace {

/// One access, while it is checked.
struct Attempt {
  Warp &warp;
  const Instruction &by;
  Space space;
  uint64_t address;
  unsigned bytes;
  Access kind;
  int lane;
  const void *value;

  std::byte *fail(FaultKind kind, std::string sentence) const {
    warp.fail(kind, by, std::move(sentence), lane);
    return nullptr;
  }
  bool writes() const { return kind != Access::read; }
  std::string_view verb() const { return writes() ? "written" : "read"; }
};

/// Two threads of a launch.
bool tellRace(const Attempt &a, Tag old, bool oldWrote, Conflict conflict,
              const std::string &place) {
  std::string_view between =
      conflict == Conflict::block  ? "blocks are not ordered"
      : conflict == Conflict::lane ? "no bar.warp.sync lies between"
                                   : "no barrier lies between";
  a.fail(a.space == Space::shared ? FaultKind::sharedRace
                                  : FaultKind::globalRace,
         fmt::format("{} is {} here and {} by {}: {}", place, a.verb(),
                     oldWrote ? "written" : "read",
                     threadOf(old, *a.warp.block), between));
  return false;
}

/// What a shadow and its surroundings are to a check.
struct Shadowed {
  TouchShadow &touched;
  unsigned stream;
  size_t at; ///< of the access within it
  const std::byte *host;
  const std::string *name; ///< null: shared memory
};

/// Where the bytes are, in words: `name` is of an allocation, null in shared
/// and local memory.
std::string placeOf(const Attempt &a, size_t at, const std::string *name) {
  if (name)
    return fmt::format("byte {} of '{}'", at, *name);
  return fmt::format("{} address {}", nameOf(a.space), a.address);
}

std::string placeOf(const Attempt &a, const Shadowed &s) {
  return placeOf(a, s.at, s.name);
}

/// Whether a tag is no conflict with this access. Tells of it if it is one.
bool passes(const Attempt &a, const Shadowed &s, const Toucher &now, Tag old,
            bool oldWrote) {
  Conflict conflict = conflictOf(old, now, a.kind == Access::atomic);
  if (conflict == Conflict::none)
    return true;
  if (conflict == Conflict::operation) {
    Memory &memory = a.warp.block->memory;
    if (!s.name)
      return true; // of a block before
    if (memory.isOrdered(old.operation())) {
      a.warp.block->ordered = old.operation();
      return true;
    }
    a.fail(FaultKind::operationRace,
           fmt::format("{} is {} here, by operation {}, and {} by operation "
                       "{}; nothing orders them",
                       placeOf(a, s), a.verb(), memory.operation().id,
                       oldWrote ? "written" : "read",
                       memory.idOf(old.operation())));
    return false;
  }
  // Lanes of one store may agree on what they write.
  if (conflict == Conflict::lane && oldWrote && a.kind == Access::write &&
      a.value && std::memcmp(s.host, a.value, a.bytes) == 0)
    return true;
  return tellRace(a, old, oldWrote, conflict, placeOf(a, s));
}

/// Whether no tag of these granules is a conflict. Neighbours mostly have one
/// tag: what passed once is not looked at again.
bool allPass(const Attempt &a, const Shadowed &s, const Toucher &now,
             std::span<const uint64_t> tags, bool oldWrote) {
  uint64_t passed = now.tag.bits;
  for (uint64_t old : tags) {
    if (!old || old == passed)
      continue;
    if (!passes(a, s, now, Tag{old}, oldWrote))
      return false;
    passed = old;
  }
  return true;
}

bool readersPass(const Attempt &a, const Shadowed &s, const Toucher &now,
                 size_t first, size_t count) {
  for (unsigned list = 0; list < s.touched.readers.size(); ++list) {
    const auto &readers = s.touched.readers[list];
    if (readers.empty())
      continue;
    Toucher who = now; // the wait of a wgmma orders all lanes behind it
    who.lanesConflict &= s.name || list != kTileReaders;
    if (!allPass(a, s, who, {&readers[first], count}, /*oldWrote=*/false))
      return false;
  }
  return true;
}

/// What stands in each of these granules after `now` beside what stood there.
void note(std::span<uint64_t> tags, const Toucher &now) {
  uint64_t before = 0, after = now.tag.bits;
  for (uint64_t &each : tags) {
    if (each != before) {
      before = each;
      after = together(Tag{each}, now).bits;
    }
    each = after;
  }
}

bool touch(const Attempt &a, const Shadowed &s, const Toucher &now) {
  size_t first = s.at / 2, count = (s.at + a.bytes + 1) / 2 - first;
  std::span<uint64_t> writers{&s.touched.writers[first], count};
  if (!allPass(a, s, now, writers, /*oldWrote=*/true))
    return false;
  if (a.kind == Access::read) {
    note({&s.touched.readersOf(s.stream)[first], count}, now);
    return true;
  }
  if (!readersPass(a, s, now, first, count))
    return false;
  if (a.kind == Access::write)
    std::fill(writers.begin(), writers.end(), now.tag.bits);
  else
    note(writers, {now.tag.asAtomic(), now.clock, now.lanesConflict});
  return true;
}

template <class S> bool anyOther(const S *states, unsigned bytes) {
  static_assert(sizeof(S) == 1);
  unsigned different = 0;
  for (unsigned k = 0; k < bytes; ++k)
    different |= unsigned(states[k]) ^ unsigned(ByteState::written);
  return different;
}

/// A warp, a wgmma of which reads a byte of shared memory.
int tileReader(const Attempt &a, size_t at) {
  return __builtin_ctz(a.warp.block->tileReaders[at / kChunk] | 1u << 31);
}

/// Bytes must be written to be read, and may not be on their way.
bool statesPass(const Attempt &a, ByteState *states, bool strict, size_t at,
                const std::string *name) {
  for (unsigned k = 0; k < a.bytes; ++k) {
    if (states[k] == ByteState::pending) {
      a.fail(FaultKind::pendingCopy,
             fmt::format("{} is {} here, and a cp.async to it is not waited "
                         "for",
                         placeOf(a, at, name), a.verb()));
      return false;
    }
    if (states[k] == ByteState::beingRead && a.writes()) {
      a.fail(FaultKind::pendingProduct,
             fmt::format("{} is written here, and a wgmma that reads it is not "
                         "waited for by warp {}",
                         placeOf(a, at, name), tileReader(a, at + k)));
      return false;
    }
    if (states[k] == ByteState::unwritten && a.kind != Access::write &&
        strict) {
      a.fail(FaultKind::uninitialised,
             fmt::format("{} was never written (byte {} of {})",
                         placeOf(a, at, name), k, a.bytes));
      return false;
    }
  }
  if (a.writes())
    std::fill_n(states, a.bytes, ByteState::written);
  return true;
}

std::byte *global(const Attempt &a) {
  Block &block = *a.warp.block;
  size_t number = size_t(&a.by - block.code.instructions.data());
  Allocation *found = block.recent[number];
  if (!found || !found->holds(a.address, a.bytes)) {
    found = block.memory.find(a.address, a.bytes);
    if (!found) {
      std::string sentence;
      FaultKind kind = block.memory.explain(a.address, a.bytes, &sentence);
      return a.fail(kind, std::move(sentence));
    }
    if (!block.memory.reaches(*found))
      return a.fail(FaultKind::outOfBounds, block.memory.explainReach(*found));
    block.recent[number] = found;
  }
  size_t at = a.address - found->base;
  if (a.writes() ? found->readOnly : a.space == Space::constant) {
    if (a.writes())
      return a.fail(FaultKind::readOnly,
                    fmt::format("'{}' is constant", found->name));
    if (!found->readOnly)
      return a.fail(FaultKind::outOfBounds,
                    fmt::format("'{}' is no constant memory", found->name));
  }
  if (!found->states.empty() && anyOther(&found->states[at], a.bytes) &&
      !statesPass(a, &found->states[at], true, at, &found->name))
    return nullptr;
  if (!found->touched.writers.empty()) {
    found->touched.open();
    Shadowed s{found->touched, block.memory.operation().stream, at,
               found->host + at, &found->name};
    Toucher now{{a.warp.globalTag.bits | uint64_t(a.lane)},
                &a.warp.clock,
                block.options.racesInsideWarps};
    if (!touch(a, s, now))
      return nullptr;
  }
  return found->host + at;
}

bool sharedHolds(const Attempt &a) {
  size_t size = a.warp.block->shared.size();
  return a.address >= kSharedBase && a.address - kSharedBase <= size &&
         a.bytes <= size - (a.address - kSharedBase);
}

bool touchShared(const Attempt &a) {
  Block &block = *a.warp.block;
  if (!block.memory.rules().races)
    return true;
  size_t at = a.address - kSharedBase;
  Shadowed s{block.sharedTouched, 0, at, &block.shared[at], nullptr};
  Toucher now{{a.warp.sharedTag.bits | uint64_t(a.lane)},
              &a.warp.clock,
              block.options.racesInsideWarps};
  return touch(a, s, now);
}

std::byte *shared(const Attempt &a) {
  Block &block = *a.warp.block;
  if (!sharedHolds(a))
    return a.fail(FaultKind::outOfBounds,
                  fmt::format("{} bytes at shared address {}: the block has {} "
                              "from {} on",
                              a.bytes, a.address, block.shared.size(),
                              kSharedBase));
  size_t at = a.address - kSharedBase;
  if (anyOther(&block.sharedStates[at], a.bytes) &&
      !statesPass(a, &block.sharedStates[at],
                  !block.options.readUnwrittenShared, at, nullptr))
    return nullptr;
  return touchShared(a) ? &block.shared[at] : nullptr;
}

std::byte *local(const Attempt &a) {
  Block &block = *a.warp.block;
  size_t size = block.launch.kernel.localBytes;
  if (a.address > size || a.bytes > size - a.address)
    return a.fail(FaultKind::outOfBounds,
                  fmt::format("{} bytes at local address {}: a thread has {}",
                              a.bytes, a.address, size));
  size_t at = size_t(a.warp.index * kLanes + a.lane) * size + a.address;
  if (anyOther(&block.localStates[at], a.bytes) &&
      !statesPass(a, &block.localStates[at], true, at, nullptr))
    return nullptr;
  return &block.local[at];
}

std::byte *parameter(const Attempt &a) {
  auto parameters = a.warp.block->launch.parameters;
  if (a.address > parameters.size() ||
      a.bytes > parameters.size() - a.address || a.writes())
    return a.fail(a.writes() ? FaultKind::readOnly : FaultKind::outOfBounds,
                  fmt::format("{} bytes at {} of parameters, of which there "
                              "are {}",
                              a.bytes, a.address, parameters.size()));
  return const_cast<std::byte *>(parameters.data()) + a.address;
}

} // namespace

std::string threadOf(Tag tag, const Block &block) {
  if (tag.crowd() == Crowd::blocks)
    return "several blocks";
  std::string who = fmt::format("warp {}", tag.warp());
  if (tag.crowd() == Crowd::thread)
    who = fmt::format("lane {} of warp {}", tag.lane(), tag.warp());
  if (tag.crowd() == Crowd::warps)
    who = "several warps";
  if (tag.block() != (block.number & 0xffff))
    who += fmt::format(" of block {}", tag.block());
  return who;
}

std::byte *access(Warp &warp, const Instruction &by, Space space,
                  uint64_t address, unsigned bytes, Access kind, int lane,
                  const void *value) {
  if (space == Space::generic) {
    space = address >= kLocalWindow    ? Space::local
            : address >= kSharedWindow ? Space::shared
                                       : Space::global;
    address -= space == Space::local    ? kLocalWindow
               : space == Space::shared ? kSharedWindow
                                        : 0;
  }
  Attempt attempt{warp, by, space, address, bytes, kind, lane, value};
  if (address % bytes)
    return attempt.fail(FaultKind::misaligned,
                        fmt::format("{} address 0x{:x} is no multiple of {}",
                                    nameOf(space), address, bytes));
  switch (space) {
  case Space::shared:
    return shared(attempt);
  case Space::local:
    return local(attempt);
  case Space::param:
    return parameter(attempt);
  default:
    return global(attempt);
  }
}

bool expectCopy(Warp &warp, const Instruction &by, uint64_t address,
                unsigned bytes, int lane) {
  if (!access(warp, by, Space::shared, address, bytes, Access::write, lane))
    return false;
  std::fill_n(&warp.block->sharedStates[address - kSharedBase], bytes,
              ByteState::pending);
  return true;
}

std::byte *arriveCopy(Warp &warp, const Instruction &by, uint64_t address,
                      unsigned bytes, int lane) {
  std::fill_n(&warp.block->sharedStates[address - kSharedBase], bytes,
              ByteState::written);
  return access(warp, by, Space::shared, address, bytes, Access::write, lane);
}

} // namespace mtc::ptx
