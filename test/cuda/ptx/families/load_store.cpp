//===- load_store.cpp - between registers and memory ----------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"
#include "test/cuda/ptx/machine/quick.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

/// A value of memory as a wider register has it.
template <class T> uint64_t extended(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::is_signed_v<T>)
    return uint64_t(int64_t(value));
  else
    return value;
}

/// How the addresses of all lanes are to each other.
enum class Shape : uint8_t { any, same, row };

/// Row: they follow each other, `bytes` apart. `first` is the first one's.
template <class S> Shape shapeOf(const S *slots, S bytes, S &first) {
  S fromSame = 0, fromRow = 0;
  first = slots[0];
  for (S l = 0; l < kLanes; ++l) {
    fromSame |= slots[l] ^ first;
    fromRow |= slots[l] ^ S(first + l * bytes);
  }
  return !fromSame ? Shape::same : !fromRow ? Shape::row : Shape::any;
}

Shape shapeOf(Warp &warp, const Instruction &i, unsigned bytes,
              uint64_t &first) {
  if (warp.active != kAllLanes || i.flag)
    return Shape::any;
  Shape shape = Shape::any;
  if (i.base == 8) {
    shape = shapeOf<uint64_t>(warp.slots<uint64_t>(i.from[0]), bytes, first);
  } else if (i.base == 4) {
    uint32_t narrow;
    shape = shapeOf<uint32_t>(warp.slots<uint32_t>(i.from[0]), bytes, narrow);
    first = narrow;
    // Of a row that goes over the end of 32 bits nothing is plain.
    if (first + uint64_t(kLanes) * bytes > ~uint32_t(0))
      return Shape::any;
  }
  first += uint64_t(i.immediate);
  return shape;
}

/// To the slots of all lanes: elements that are `step` bytes apart in memory.
template <class T>
void fillSlots(Warp &warp, uint32_t place, uint8_t slot, const std::byte *at,
               unsigned step) {
  if (slot == 8)
    for (unsigned l = 0; l < kLanes; ++l)
      warp.slots<uint64_t>(place)[l] = extended<T>(at + l * step);
  else
    for (unsigned l = 0; l < kLanes; ++l)
      warp.slots<uint32_t>(place)[l] = uint32_t(extended<T>(at + l * step));
}

/// Where all lanes read, checked at once; null: they are looked at one by one.
template <unsigned Bytes>
const std::byte *wholeWarp(Warp &warp, const Instruction &i, Quick &quick,
                           unsigned &step) {
  uint64_t first = 0;
  Shape shape = shapeOf(warp, i, Bytes, first);
  step = shape == Shape::row ? Bytes : 0;
  if constexpr (Bytes >= 2)
    if (shape == Shape::row)
      return quick.readRow<Bytes>(first);
  return shape == Shape::same ? quick.readSame<Bytes>(first) : nullptr;
}

template <class T, unsigned Vector>
bool load(Warp &warp, const Instruction &i) {
  constexpr unsigned kBytes = sizeof(T) * Vector;
  Quick quick(warp, i, i.space,
              someAddress(warp, i.from[0], i.base, i.immediate), kBytes,
              /*writes=*/false);
  unsigned step;
  if (const std::byte *at = wholeWarp<kBytes>(warp, i, quick, step)) {
    for (unsigned k = 0; k < Vector; ++k)
      if (i.to[k] != kNowhere)
        fillSlots<T>(warp, i.to[k], slotOfTo(i, k), at + k * sizeof(T), step);
    return true;
  }
  Access kind = i.flag ? Access::atomic : Access::read;
  return allLanes(warp.active, [&](int l) {
    uint64_t address = addressOf(warp, i.from[0], i.base, i.immediate, l);
    const std::byte *at = i.flag ? nullptr : quick.read<kBytes>(address, l);
    if (!at)
      at = access(warp, i, i.space, address, kBytes, kind, l);
    if (!at)
      return false;
    for (unsigned k = 0; k < Vector; ++k)
      if (i.to[k] != kNowhere)
        warp.write(i.to[k], slotOfTo(i, k), l, extended<T>(at + k * sizeof(T)));
    return true;
  });
}

/// From the slots of all lanes, as fillSlots().
template <class T>
void takeSlots(Warp &warp, uint32_t place, uint8_t slot, std::byte *at,
               unsigned step) {
  for (unsigned l = 0; l < kLanes; ++l) {
    T value = slot == 8 ? T(warp.slots<uint64_t>(place)[l])
                        : T(warp.slots<uint32_t>(place)[l]);
    std::memcpy(at + l * step, &value, sizeof value);
  }
}

template <class T, unsigned Vector>
bool store(Warp &warp, const Instruction &i) {
  constexpr unsigned kBytes = sizeof(T) * Vector;
  Quick quick(warp, i, i.space,
              someAddress(warp, i.from[0], i.base, i.immediate), kBytes,
              /*writes=*/true);
  if constexpr (kBytes >= 2) {
    uint64_t first = 0;
    bool row = shapeOf(warp, i, kBytes, first) == Shape::row;
    if (std::byte *at = row ? quick.writeRow<kBytes>(first) : nullptr) {
      for (unsigned k = 0; k < Vector; ++k)
        takeSlots<T>(warp, i.from[1 + k], slotOfFrom(i, 1 + k),
                     at + k * sizeof(T), kBytes);
      return true;
    }
  }
  Access kind = i.flag ? Access::atomic : Access::write;
  return allLanes(warp.active, [&](int l) {
    uint64_t address = addressOf(warp, i.from[0], i.base, i.immediate, l);
    T values[Vector];
    for (unsigned k = 0; k < Vector; ++k)
      values[k] = T(warp.read(i.from[1 + k], slotOfFrom(i, 1 + k), l));
    std::byte *at = i.flag ? nullptr : quick.write<kBytes>(address, l);
    if (!at)
      at = access(warp, i, i.space, address, kBytes, kind, l, values);
    if (at)
      std::memcpy(at, values, kBytes);
    return at != nullptr;
  });
}

/// A parameter at a place that the text names: the same for all lanes.
template <class T> bool loadParameter(Warp &warp, const Instruction &i) {
  const std::byte *at = access(warp, i, Space::param, uint64_t(i.immediate),
                               unsigned(sizeof(T) * i.vector), Access::read,
                               __builtin_ctz(warp.active));
  if (!at)
    return false;
  for (unsigned k = 0; k < i.vector; ++k) {
    uint64_t value = extended<T>(at + k * sizeof(T));
    if (i.to[k] == kNowhere)
      continue;
    if (slotOfTo(i, k) == 8)
      eachLane<uint64_t>(warp, i.to[k], [&](int) { return value; });
    else
      eachLane<uint32_t>(warp, i.to[k], [&](int) { return uint32_t(value); });
  }
  return true;
}

template <template <class> class Of> Handler byMemory(Type type) {
  switch (type) {
  case Type::s8:
    return Of<int8_t>::handler;
  case Type::s16:
    return Of<int16_t>::handler;
  case Type::s32:
    return Of<int32_t>::handler;
  default:
    break;
  }
  switch (bytesOf(type)) {
  case 1:
    return Of<uint8_t>::handler;
  case 2:
    return Of<uint16_t>::handler;
  case 4:
    return Of<uint32_t>::handler;
  case 8:
    return Of<uint64_t>::handler;
  default:
    return nullptr;
  }
}
template <unsigned Vector> struct Vectors {
  template <class T> static constexpr bool kFits = sizeof(T) * Vector <= 16;
  template <class T> struct Load {
    static constexpr Handler handler = kFits<T> ? load<T, Vector> : nullptr;
  };
  template <class T> struct Store {
    static constexpr Handler handler = kFits<T> ? store<T, Vector> : nullptr;
  };
};
template <class T> struct LoadParameter {
  static constexpr Handler handler = loadParameter<T>;
};

/// What orders an access with others. Only weak ones are followed as such: the
/// others are taken for atomic, as they may meet.
bool takeOrder(Builder &b, bool isLoad) {
  if (b.take("weak"))
    return false;
  if (b.take("volatile"))
    return true;
  auto order = isLoad ? b.takeOneOf({"relaxed", "acquire"})
                      : b.takeOneOf({"relaxed", "release"});
  if (!order)
    return false;
  if (!b.takeOneOf({"cta", "cluster", "gpu", "sys"}))
    b.expectOneOf({"cta", "cluster", "gpu", "sys"});
  return true;
}

std::optional<Space> takeSpace(Builder &b, bool isLoad) {
  constexpr Space kSpaces[] = {Space::global, Space::shared,   Space::shared,
                               Space::local,  Space::constant, Space::param,
                               Space::param};
  auto found = b.takeOneOf({"global", "shared", "shared::cta", "local", "const",
                            "param", "param::entry"});
  if (found && !isLoad && *found >= 4)
    b.problem(fmt::format("st: .{} is not stored to", nameOf(kSpaces[*found])));
  return found ? std::optional(kSpaces[*found]) : std::nullopt;
}

/// Hints to caches change no value.
void takeHints(Builder &b, bool isLoad) {
  if (isLoad)
    b.takeOneOf({"ca", "cg", "cs", "lu", "cv"});
  else
    b.takeOneOf({"wb", "cg", "cs", "wt"});
  b.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
               "L1::evict_last", "L1::no_allocate"});
  if (isLoad)
    b.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
}

uint8_t takeVector(Builder &b) {
  auto found = b.takeOneOf({"v2", "v4"});
  return found ? uint8_t(2 << *found) : 1;
}

void takeElements(Builder &b, Type type, unsigned vector) {
  if (bytesOf(type) * vector > 16)
    b.problem(
        fmt::format("{}: a vector has at most 16 bytes", b.statement().opcode));
}

constexpr std::initializer_list<Type> kElements = {
    Type::b8,  Type::b16, Type::b32, Type::b64, Type::u8,
    Type::u16, Type::u32, Type::u64, Type::s8,  Type::s16,
    Type::s32, Type::s64, Type::f32, Type::f64};

} // namespace

void decodeLd(Builder &b) {
  bool uniform = b.statement().opcode == "ldu";
  bool meets = !uniform && takeOrder(b, true);
  Space space = takeSpace(b, true).value_or(Space::generic);
  takeHints(b, true);
  if (b.take("nc") && space != Space::global)
    b.problem("ld: .nc is of .global");
  takeHints(b, true);
  b.out.vector = takeVector(b);
  Type type = b.expectType(kElements);
  takeElements(b, type, b.out.vector);
  b.endModifiers();
  b.toWideVector(type, b.out.vector);
  b.address(space);
  b.endOperands();
  b.out.flag = meets;
  bool fixed = space == Space::param && b.out.base == 0;
  b.out.run = fixed               ? byMemory<LoadParameter>(type)
              : b.out.vector == 1 ? byMemory<Vectors<1>::Load>(type)
              : b.out.vector == 2 ? byMemory<Vectors<2>::Load>(type)
                                  : byMemory<Vectors<4>::Load>(type);
}

void decodeSt(Builder &b) {
  bool meets = takeOrder(b, false);
  Space space = takeSpace(b, false).value_or(Space::generic);
  takeHints(b, false);
  b.out.vector = takeVector(b);
  Type type = b.expectType(kElements);
  takeElements(b, type, b.out.vector);
  b.endModifiers();
  b.address(space);
  b.fromWideVector(type, b.out.vector);
  b.endOperands();
  b.out.flag = meets;
  b.out.run = b.out.vector == 1   ? byMemory<Vectors<1>::Store>(type)
              : b.out.vector == 2 ? byMemory<Vectors<2>::Store>(type)
                                  : byMemory<Vectors<4>::Store>(type);
}

/// A hint; that its address is one is not looked at, as no device does.
void decodePrefetch(Builder &b) {
  Space space = b.take("global") ? Space::global : Space::generic;
  if (space == Space::generic && b.take("local"))
    space = Space::local;
  if (b.expectOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"}) > 1 &&
      space != Space::global)
    b.problem("prefetch: .L2::evict is of .global");
  b.endModifiers();
  b.address(space);
  b.endOperands();
  b.out.run = [](Warp &, const Instruction &) { return true; };
}

} // namespace mtc::ptx
