//===- shuffle.cpp - lanes of a warp to each other ------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

enum Way : uint8_t { up, down, butterfly, index };

/// Of lane l: which lane it asks, and whether that is in range.
struct Source {
  int lane;
  bool inRange;
};

template <Way Of> Source sourceOf(int l, uint32_t b, uint32_t c) {
  int clamp = int(c & 31), segment = int(c >> 8 & 31);
  int last = (l & segment) | (clamp & ~segment), by = int(b & 31);
  if constexpr (Of == up)
    return {l - by, l - by >= last};
  if constexpr (Of == down)
    return {l + by, l + by <= last};
  if constexpr (Of == butterfly)
    return {l ^ by, (l ^ by) <= last};
  int lane = (l & segment) | (by & ~segment);
  return {lane, lane <= last};
}

/// Whether each lane's source takes part; a fault if not.
bool takePart(Warp &warp, const Instruction &i, const int32_t *from) {
  return warp.active == kAllLanes || allLanes(warp.active, [&](int l) {
           return (warp.active >> from[l] & 1) ||
                  warp.fail(
                      FaultKind::laneSource, i,
                      fmt::format("asks lane {}, which does not take part",
                                  from[l]),
                      l);
         });
}

/// In loops over all lanes, as those of lanes.h.
template <Way Of> bool shfl(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.slots<uint32_t>(i.from[0]);
  const uint32_t *b = warp.slots<uint32_t>(i.from[1]);
  const uint32_t *c = warp.slots<uint32_t>(i.from[2]);
  alignas(64) int32_t from[kLanes];
  alignas(64) uint32_t inRange[kLanes], made[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    Source source = sourceOf<Of>(l, b[l], c[l]);
    from[l] = source.inRange ? source.lane : l;
    inRange[l] = source.inRange ? 1u << l : 0;
  }
  if (!takePart(warp, i, from))
    return false;
  for (int l = 0; l < kLanes; ++l)
    made[l] = a[from[l]];
  if (i.to[0] != kNowhere)
    eachLane<uint32_t>(warp, i.to[0], [&](int l) { return made[l]; });
  if (i.to[1] != kNowhere) {
    uint32_t all = 0;
    for (int l = 0; l < kLanes; ++l)
      all |= inRange[l];
    warp.setMask(i.to[1], all);
  }
  return true;
}

enum Vote : uint8_t { all, any, uni, ballot };

bool vote(Warp &warp, const Instruction &i) {
  uint32_t yes = (warp.mask(i.from[0]) ^ (i.flag ? ~0u : 0)) & warp.active;
  if (i.variant == ballot) {
    forLanes(warp.active,
             [&](int l) { warp.slots<uint32_t>(i.to[0])[l] = yes; });
    return true;
  }
  bool made = i.variant == all   ? yes == warp.active
              : i.variant == any ? yes != 0
                                 : yes == 0 || yes == warp.active;
  warp.setMask(i.to[0], made ? kAllLanes : 0);
  return true;
}

/// any: the lanes with the same value; all: every lane, if all have it.
bool match(Warp &warp, const Instruction &i) {
  uint64_t values[kLanes];
  forLanes(warp.active,
           [&](int l) { values[l] = warp.read(i.from[0], i.slot, l); });
  uint32_t same = warp.active;
  forLanes(warp.active, [&](int l) {
    uint32_t equal = 0;
    forLanes(warp.active,
             [&](int m) { equal |= uint32_t(values[m] == values[l]) << m; });
    if (i.variant == any)
      warp.slots<uint32_t>(i.to[0])[l] = equal;
    same = equal == warp.active ? same : 0;
  });
  if (i.variant == any)
    return true;
  if (i.to[0] != kNowhere)
    forLanes(warp.active,
             [&](int l) { warp.slots<uint32_t>(i.to[0])[l] = same; });
  if (i.to[1] != kNowhere)
    warp.setMask(i.to[1], same ? kAllLanes : 0);
  return true;
}

bool activemask(Warp &warp, const Instruction &i) {
  forLanes(warp.active,
           [&](int l) { warp.slots<uint32_t>(i.to[0])[l] = warp.active; });
  return true;
}

struct Add {
  template <class T> T operator()(T a, T b) const {
    return T(uint32_t(a) + uint32_t(b));
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct And {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};

template <class T, class F> bool redux(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.slots<uint32_t>(i.from[0]);
  T made = fromSlot<T>(a[__builtin_ctz(warp.active)]);
  forLanes(warp.active & (warp.active - 1),
           [&](int l) { made = F()(made, fromSlot<T>(a[l])); });
  forLanes(warp.active,
           [&](int l) { warp.slots<uint32_t>(i.to[0])[l] = toSlot<T>(made); });
  return true;
}

bool elect(Warp &warp, const Instruction &i) {
  uint32_t leader = uint32_t(__builtin_ctz(warp.active));
  if (i.to[0] != kNowhere)
    forLanes(warp.active,
             [&](int l) { warp.slots<uint32_t>(i.to[0])[l] = leader; });
  warp.setMask(i.to[1], 1u << leader);
  return true;
}

/// What runs in step by itself is no more, since sm_70.
void takeSync(Builder &b) { b.expectOneOf({"sync"}); }

} // namespace

void decodeShfl(Builder &b) {
  takeSync(b);
  constexpr Handler kWays[] = {shfl<up>, shfl<down>, shfl<butterfly>,
                               shfl<index>};
  b.out.run = kWays[b.expectOneOf({"up", "down", "bfly", "idx"})];
  b.expectType({Type::b32});
  b.endModifiers();
  b.toPair(Type::b32, true);
  for (int k = 0; k < 3; ++k)
    b.from(Type::b32);
  b.members();
  b.endOperands();
}

void decodeVote(Builder &b) {
  takeSync(b);
  b.out.variant = uint8_t(b.expectOneOf({"all", "any", "uni", "ballot"}));
  bool isBallot = b.out.variant == ballot;
  Type type = b.expectType({isBallot ? Type::b32 : Type::pred});
  b.endModifiers();
  b.out.run = vote;
  b.to(type);
  b.fromPredicate();
  b.members();
  b.endOperands();
}

void decodeMatch(Builder &b) {
  bool isAll = !b.expectOneOf({"all", "any"});
  takeSync(b);
  Type type = b.expectType({Type::b32, Type::b64});
  b.endModifiers();
  b.needs(70, 60);
  b.out.variant = isAll ? all : any;
  b.out.slot = slotOf(type);
  b.out.run = match;
  if (isAll)
    b.toPair(Type::b32, true);
  else
    b.to(Type::b32);
  b.from(type);
  b.members();
  b.endOperands();
}

void decodeActivemask(Builder &b) {
  b.expectType({Type::b32});
  b.endModifiers();
  b.to(Type::b32);
  b.endOperands();
  b.out.run = activemask;
}

void decodeRedux(Builder &b) {
  takeSync(b);
  size_t what = b.expectOneOf({"add", "min", "max", "and", "or", "xor"});
  b.needs(80, 70);
  if (what >= 3) {
    b.expectType({Type::b32});
    constexpr Handler kLogic[] = {redux<uint32_t, And>, redux<uint32_t, Or>,
                                  redux<uint32_t, Xor>};
    b.out.run = kLogic[what - 3];
  } else {
    constexpr Handler kPlain[2][3] = {
        {redux<uint32_t, Add>, redux<uint32_t, Min>, redux<uint32_t, Max>},
        {redux<int32_t, Add>, redux<int32_t, Min>, redux<int32_t, Max>}};
    b.out.run = kPlain[isSigned(b.expectType({Type::u32, Type::s32}))][what];
  }
  b.endModifiers();
  b.to(Type::b32);
  b.from(Type::b32);
  b.members();
  b.endOperands();
}

void decodeElect(Builder &b) {
  takeSync(b);
  b.needs(90, 80);
  b.endModifiers();
  b.out.run = elect;
  b.toPair(Type::b32, true);
  if (!b.failed() && b.out.to[1] == kNowhere)
    b.problem("elect: expected two results, d|p");
  b.members();
  b.endOperands();
}

} // namespace mtc::ptx
