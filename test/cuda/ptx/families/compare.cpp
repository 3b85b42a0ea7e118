//===- compare.cpp - setp and set -----------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/floats.h"

namespace mtc::ptx {
namespace {

// Without a NaN the usual ones; with one the first are false, those with u
// true.
struct Eq {
  template <class T> bool operator()(T a, T b) const { return a == b; }
};
struct Ne {
  template <class T> bool operator()(T a, T b) const { return a < b || a > b; }
};
struct Lt {
  template <class T> bool operator()(T a, T b) const { return a < b; }
};
struct Le {
  template <class T> bool operator()(T a, T b) const { return a <= b; }
};
struct Gt {
  template <class T> bool operator()(T a, T b) const { return a > b; }
};
struct Ge {
  template <class T> bool operator()(T a, T b) const { return a >= b; }
};
template <class F> struct OrNan {
  template <class T> bool operator()(T a, T b) const { return !F()(a, b); }
};
struct Num {
  template <class T> bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};

/// The lanes of which it holds.
template <class T, class F>
uint32_t compared(Warp &warp, const Instruction &i) {
  const Slot<T> *a = warp.slots<Slot<T>>(i.from[0]);
  const Slot<T> *b = warp.slots<Slot<T>>(i.from[1]);
  uint32_t made = 0;
  for (int l = 0; l < kLanes; ++l)
    made |= uint32_t(F()(comparable(fromSlot<T>(a[l])),
                         comparable(fromSlot<T>(b[l]))))
            << l;
  return made;
}

/// Of the two halves of a register each.
template <class T, class F>
uint32_t comparedUpper(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.slots<uint32_t>(i.from[0]);
  const uint32_t *b = warp.slots<uint32_t>(i.from[1]);
  uint32_t made = 0;
  for (int l = 0; l < kLanes; ++l)
    made |= uint32_t(F()(comparable(fromSlot<T>(a[l] >> 16)),
                         comparable(fromSlot<T>(b[l] >> 16))))
            << l;
  return made;
}

enum Combine : uint8_t { alone, withAnd, withOr, withXor };

uint32_t combined(uint32_t made, Warp &warp, const Instruction &i) {
  if (i.variant == alone)
    return made;
  uint32_t with = warp.mask(i.from[2]) ^ (i.flag ? ~0u : 0);
  return i.variant == withAnd  ? made & with
         : i.variant == withOr ? made | with
                               : made ^ with;
}

/// p|q: q is the other answer, combined as well.
template <class T, class F> bool setp(Warp &warp, const Instruction &i) {
  uint32_t made = compared<T, F>(warp, i);
  uint32_t first = combined(made, warp, i);
  uint32_t second = combined(~made, warp, i);
  if (i.to[0] != kNowhere)
    warp.setMask(i.to[0], first);
  if (i.toCount > 1 && i.to[1] != kNowhere)
    warp.setMask(i.to[1], second);
  return true;
}

template <class T, class F> bool setpPair(Warp &warp, const Instruction &i) {
  uint32_t first = combined(compared<T, F>(warp, i), warp, i);
  uint32_t second = combined(comparedUpper<T, F>(warp, i), warp, i);
  if (i.to[0] != kNowhere)
    warp.setMask(i.to[0], first);
  if (i.to[1] != kNowhere)
    warp.setMask(i.to[1], second);
  return true;
}

/// What `set` writes where it holds: ones or 1.0, in i.immediate.
template <class T, class F> bool set(Warp &warp, const Instruction &i) {
  uint32_t made = combined(compared<T, F>(warp, i), warp, i);
  forLanes(warp.active, [&](int l) {
    warp.slots<uint32_t>(i.to[0])[l] =
        made >> l & 1 ? uint32_t(i.immediate) : 0;
  });
  return true;
}

/// The same in each half, or, of a whole word, where both hold.
template <class T, class F> bool setPair(Warp &warp, const Instruction &i) {
  uint32_t low = combined(compared<T, F>(warp, i), warp, i);
  uint32_t high = combined(comparedUpper<T, F>(warp, i), warp, i);
  auto one = uint32_t(i.immediate);
  forLanes(warp.active, [&](int l) {
    warp.slots<uint32_t>(i.to[0])[l] =
        (low >> l & 1 ? one : 0) | (high >> l & 1 ? one << 16 : 0);
  });
  return true;
}

// Places in the list of takeRelation.
constexpr size_t kFirstUnsigned = 6, kFirstUnordered = 10;

template <class Make> Handler byRelation(size_t relation, Make make) {
  switch (relation) {
  case 0:
    return make(Eq());
  case 1:
    return make(Ne());
  case 2:
  case 6:
    return make(Lt());
  case 3:
  case 7:
    return make(Le());
  case 4:
  case 8:
    return make(Gt());
  case 5:
  case 9:
    return make(Ge());
  case 10:
    return make(OrNan<Ne>());
  case 11:
    return make(OrNan<Eq>());
  case 12:
    return make(OrNan<Ge>());
  case 13:
    return make(OrNan<Gt>());
  case 14:
    return make(OrNan<Le>());
  case 15:
    return make(OrNan<Lt>());
  case 16:
    return make(Num());
  default:
    return make(OrNan<Num>());
  }
}

template <class Make> Handler byCompared(Type type, bool flush, Make make) {
  switch (type) {
  case Type::f32:
    return flush ? make(FlushedFloat()) : make(float());
  case Type::f64:
    return make(double());
  case Type::f16:
  case Type::f16x2:
    return flush ? make(FlushedF16()) : make(F16());
  case Type::bf16:
  case Type::bf16x2:
    return make(Bf16());
  default:
    return byInteger(type, make);
  }
}

bool isPair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

/// .lt.and.ftz: what comes before the types.
size_t takeRelation(Builder &b, bool &flush) {
  size_t relation =
      b.expectOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                     "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (auto with = b.takeOneOf({"and", "or", "xor"}))
    b.out.variant = uint8_t(withAnd + *with);
  flush = b.take("ftz");
  if (flush)
    b.flushesToZero();
  return relation;
}

void checkRelation(Builder &b, size_t relation, Type type, bool flush) {
  TypeClass kind = classOf(type);
  bool isFloat = kind == TypeClass::floating;
  bool good = relation < 2 || (isFloat ? relation < kFirstUnsigned ||
                                             relation >= kFirstUnordered
                                       : relation < kFirstUnordered);
  if (kind == TypeClass::bits)
    good = relation < 2;
  if (isSigned(type) && relation >= kFirstUnsigned)
    good = false;
  if (!good)
    b.problem("a relation that the type does not have");
  if (flush && type != Type::f32 && type != Type::f16 && type != Type::f16x2)
    b.problem(".ftz is of .f32 and .f16");
}

constexpr std::initializer_list<Type> kCompared = {
    Type::b16, Type::b32, Type::b64,  Type::u16,   Type::u32,
    Type::u64, Type::s16, Type::s32,  Type::s64,   Type::f32,
    Type::f64, Type::f16, Type::bf16, Type::f16x2, Type::bf16x2};

void fromCompared(Builder &b, Type type) {
  if (type == Type::bf16 || type == Type::bf16x2)
    b.needs(90, 78);
  b.from(type);
  b.from(type);
  if (b.out.variant)
    b.fromPredicate();
  b.endOperands();
}

} // namespace

void decodeSetp(Builder &b) {
  bool flush;
  size_t relation = takeRelation(b, flush);
  Type type = b.expectType(kCompared);
  checkRelation(b, relation, type, flush);
  b.endModifiers();
  bool pair = isPair(type);
  b.toPair(Type::pred, true);
  if (b.out.to[0] == kNowhere && b.out.to[1] == kNowhere)
    b.problem("setp: expected a result");
  if (pair && b.out.to[1] == kNowhere &&
      b.statement().operands[0].kind != Operand::Kind::pair)
    b.problem("setp: a comparison of pairs has two results, p|q");
  fromCompared(b, type);
  b.out.run = byCompared(type, flush, [&](auto t) {
    using T = decltype(t);
    return byRelation(relation, [&](auto f) -> Handler {
      using F = decltype(f);
      if constexpr (sizeof(T) == 2)
        return pair ? setpPair<T, F> : setp<T, F>;
      else
        return setp<T, F>;
    });
  });
}

void decodeSet(Builder &b) {
  bool flush;
  size_t relation = takeRelation(b, flush);
  Type made =
      b.expectType({Type::u32, Type::s32, Type::f32, Type::f16, Type::bf16,
                    Type::f16x2, Type::bf16x2, Type::u16, Type::s16});
  Type type = b.expectType(kCompared);
  checkRelation(b, relation, type, flush);
  b.endModifiers();
  bool pair = isPair(type), small = classOf(type) == TypeClass::floating &&
                                    (pair || bytesOf(type) == 2);
  bool word = made == Type::u32 || made == Type::s32;
  bool good = made == type || word ||
              (bytesOf(made) == 2 && small && !pair &&
               classOf(made) == TypeClass::integer) ||
              (made == Type::f32 && !pair);
  if (bytesOf(made) == 2 && !small)
    good = false;
  if (!good || (isPair(made) && made != type))
    b.problem("set: types that do not go together");
  // Of a pair each half has its answer, of a word all of it.
  b.out.immediate = made == Type::f32                            ? 0x3f800000
                    : made == Type::f16 || made == Type::f16x2   ? 0x3c00
                    : made == Type::bf16 || made == Type::bf16x2 ? 0x3f80
                    : pair || bytesOf(made) == 2                 ? 0xffff
                                                                 : 0xffffffff;
  b.to(made);
  fromCompared(b, type);
  b.out.run = byCompared(type, flush, [&](auto t) {
    using T = decltype(t);
    return byRelation(relation, [&](auto f) -> Handler {
      using F = decltype(f);
      if constexpr (sizeof(T) == 2)
        return pair ? setPair<T, F> : set<T, F>;
      else
        return set<T, F>;
    });
  });
}

} // namespace mtc::ptx
