//===- atomics.cpp - read, change and write at once -----------------------===//
//
// Lanes come one after the other, from one by chance on, as devices promise no
// order.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/access.h"
#include "test/cuda/ptx/machine/floats.h"
#include "test/cuda/ptx/machine/rounding.h"

namespace mtc::ptx {
namespace {

template <class T> using Word = Bits<T>;

struct Exch {
  template <class T> T operator()(T, T b) const { return b; }
};
struct Add {
  template <class T> T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return canonical(a + b);
    else
      return T(uint64_t(a) + uint64_t(b));
  }
  template <class H> static uint16_t half(uint16_t a, uint16_t b) {
    double sum = oddAdd(widened(H{a}), widened(H{b}));
    return uint16_t(toFormat(sum, std::is_same_v<H, F16> ? kF16 : kBf16,
                             Rounding::nearest));
  }
  F16 operator()(F16 a, F16 b) const { return {half<F16>(a.bits, b.bits)}; }
  Bf16 operator()(Bf16 a, Bf16 b) const { return {half<Bf16>(a.bits, b.bits)}; }
};
/// Both halves of a word.
template <class H> struct AddPair {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return uint32_t(Add::half<H>(uint16_t(a >> 16), uint16_t(b >> 16))) << 16 |
           Add::half<H>(uint16_t(a), uint16_t(b));
  }
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
struct Min {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Inc {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return a >= b ? 0 : a + 1;
  }
};
struct Dec {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return a == 0 || a > b ? b : a - 1;
  }
};

/// Calls f(lane) for the active lanes, from one by chance on.
template <class F> bool byChance(Warp &warp, F f) {
  auto start = int(warp.block->random.below(kLanes));
  for (int k = 0; k < kLanes; ++k) {
    int lane = (start + k) % kLanes;
    if (warp.active >> lane & 1 && !f(lane))
      return false;
  }
  return true;
}

template <class T, class Change>
bool changed(Warp &warp, const Instruction &i, Change change) {
  return byChance(warp, [&](int l) {
    uint64_t address = addressOf(warp, i.from[0], i.base, i.immediate, l);
    std::byte *at =
        access(warp, i, i.space, address, sizeof(T), Access::atomic, l);
    if (!at)
      return false;
    T old;
    std::memcpy(&old, at, sizeof old);
    T made = change(old, l);
    std::memcpy(at, &made, sizeof made);
    if (i.toCount && i.to[0] != kNowhere)
      warp.slots<Slot<T>>(i.to[0])[l] = toSlot<T>(old);
    return true;
  });
}

bool isShared(const Instruction &i, uint64_t address) {
  return i.space == Space::shared ||
         (i.space == Space::generic && address >= kSharedWindow);
}

/// Of f32 outside of shared memory: subnormals are zeros, as PTX has it.
bool addFloat(Warp &warp, const Instruction &i) {
  const uint32_t *b = warp.slots<uint32_t>(i.from[1]);
  return changed<float>(warp, i, [&](float old, int l) {
    float with = fromSlot<float>(b[l]);
    uint64_t at = addressOf(warp, i.from[0], i.base, i.immediate, l);
    return isShared(i, at) ? Add()(old, with)
                           : flushed(Add()(flushed(old), flushed(with)));
  });
}

/// Of f64: which NaN stays is another one in shared memory, where it is a loop
/// of compare-and-swap on an H100.
bool addDouble(Warp &warp, const Instruction &i) {
  const uint64_t *b = warp.slots<uint64_t>(i.from[1]);
  return changed<double>(warp, i, [&](double old, int l) {
    auto with = fromSlot<double>(b[l]);
    uint64_t at = addressOf(warp, i.from[0], i.base, i.immediate, l);
    if (isShared(i, at))
      return firstNan(old + with, old, with);
    // Elsewhere a NaN is not even made quiet.
    return with != with ? with : old != old ? old : old + with;
  });
}

template <class T, class F> bool atomic(Warp &warp, const Instruction &i) {
  const Slot<T> *b = warp.slots<Slot<T>>(i.from[1]);
  return changed<T>(warp, i,
                    [&](T old, int l) { return F()(old, fromSlot<T>(b[l])); });
}

template <class T> bool compareAndSwap(Warp &warp, const Instruction &i) {
  const Slot<T> *b = warp.slots<Slot<T>>(i.from[1]);
  const Slot<T> *c = warp.slots<Slot<T>>(i.from[2]);
  return changed<T>(
      warp, i, [&](T old, int l) { return old == T(b[l]) ? T(c[l]) : old; });
}

enum What {
  isAnd,
  isOr,
  isXor,
  isExch,
  isCas,
  isAdd,
  isInc,
  isDec,
  isMin,
  isMax
};

template <class F> Handler onInteger(Type type) {
  switch (type) {
  case Type::u32:
  case Type::b32:
    return atomic<uint32_t, F>;
  case Type::u64:
  case Type::b64:
    return atomic<uint64_t, F>;
  case Type::s32:
    return atomic<int32_t, F>;
  case Type::s64:
    return atomic<int64_t, F>;
  default:
    return nullptr;
  }
}

Handler addOf(Type type) {
  switch (type) {
  case Type::f32:
    return addFloat;
  case Type::f64:
    return addDouble;
  case Type::f16:
    return atomic<F16, Add>;
  case Type::bf16:
    return atomic<Bf16, Add>;
  case Type::f16x2:
    return atomic<uint32_t, AddPair<F16>>;
  case Type::bf16x2:
    return atomic<uint32_t, AddPair<Bf16>>;
  default:
    return onInteger<Add>(type);
  }
}

Handler handlerOf(What what, Type type) {
  switch (what) {
  case isAnd:
    return onInteger<And>(type);
  case isOr:
    return onInteger<Or>(type);
  case isXor:
    return onInteger<Xor>(type);
  case isExch:
    return onInteger<Exch>(type);
  case isCas:
    return type == Type::b16   ? compareAndSwap<uint16_t>
           : type == Type::b32 ? compareAndSwap<uint32_t>
                               : compareAndSwap<uint64_t>;
  case isAdd:
    return addOf(type);
  case isInc:
    return atomic<uint32_t, Inc>;
  case isDec:
    return atomic<uint32_t, Dec>;
  case isMin:
    return onInteger<Min>(type);
  default:
    return onInteger<Max>(type);
  }
}

Type takeType(Builder &b, What what) {
  switch (what) {
  case isAnd:
  case isOr:
  case isXor:
  case isExch:
    return b.expectType({Type::b32, Type::b64});
  case isCas:
    return b.expectType({Type::b32, Type::b64, Type::b16});
  case isInc:
  case isDec:
    return b.expectType({Type::u32});
  case isAdd:
    return b.expectType({Type::u32, Type::s32, Type::u64, Type::f32, Type::f64,
                         Type::f16, Type::f16x2, Type::bf16, Type::bf16x2});
  default:
    return b.expectType({Type::u32, Type::s32, Type::u64, Type::s64});
  }
}

/// What comes before the operation.
Space takeOrderAndSpace(Builder &b) {
  if (b.takeOneOf({"relaxed", "acquire", "release", "acq_rel"}))
    b.expectOneOf({"cta", "cluster", "gpu", "sys"});
  else
    b.takeOneOf({"cta", "cluster", "gpu", "sys"});
  constexpr Space kSpaces[] = {Space::global, Space::shared, Space::shared};
  auto space = b.takeOneOf({"global", "shared", "shared::cta"});
  b.takeOneOf({"cta", "cluster", "gpu", "sys"}); // here as well
  return space ? kSpaces[*space] : Space::generic;
}

void decode(Builder &b, bool returns) {
  Space space = takeOrderAndSpace(b);
  auto what = What(b.expectOneOf(
      {"and", "or", "xor", "exch", "cas", "add", "inc", "dec", "min", "max"}));
  bool noflush = b.take("noftz");
  Type type = takeType(b, what);
  bool small =
      bytesOf(type) == 2 || type == Type::f16x2 || type == Type::bf16x2;
  if (noflush != (small && what == isAdd))
    b.problem("atom: .noftz is of additions of f16 and bf16, which need it");
  if (!returns && (what == isExch || what == isCas))
    b.problem("red: has neither .exch nor .cas");
  if (small)
    b.needs(type == Type::bf16 || type == Type::bf16x2 ? 90 : 70, 63);
  b.endModifiers();
  if (returns) {
    const Operand *first = b.peek();
    if (first && first->kind == Operand::Kind::sink)
      b.nextOperand();
    else
      b.to(type);
  }
  b.address(space);
  b.from(type);
  if (what == isCas)
    b.from(type);
  b.endOperands();
  b.out.run = handlerOf(what, type);
}

} // namespace

void decodeAtom(Builder &b) { decode(b, true); }
void decodeRed(Builder &b) { decode(b, false); }

} // namespace mtc::ptx
