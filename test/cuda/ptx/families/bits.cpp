//===- bits.cpp - logic and shifts ----------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"

namespace mtc::ptx {
namespace {

struct And {
  template <class T> T operator()(T a, T b) const { return T(a & b); }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return T(a | b); }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return T(a ^ b); }
};
struct Not {
  template <class T> T operator()(T a) const { return T(~a); }
};
struct Cnot {
  template <class T> T operator()(T a) const { return T(a == 0); }
};
// Shifts by more than there are bits shift all out.
struct Shl {
  template <class T> T operator()(T a, uint32_t n) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    return n >= kBits ? T(0) : T(uint64_t(a) << n);
  }
};
struct Shr {
  template <class T> T operator()(T a, uint32_t n) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if (n >= kBits)
      return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return T(a >> n);
  }
};

/// Of predicates, which are bits of a mask.
template <class F> bool onMasks(Warp &warp, const Instruction &i) {
  warp.setMask(i.to[0], F()(warp.mask(i.from[0]), warp.mask(i.from[1])));
  return true;
}

template <class F> void logic(Builder &b) {
  Type type = b.expectType({Type::pred, Type::b16, Type::b32, Type::b64});
  if (type == Type::pred) {
    b.out.run = onMasks<F>;
    b.endModifiers();
    b.toPredicate();
    b.from(Type::pred);
    b.from(Type::pred);
    return b.endOperands();
  }
  b.out.run = byInteger(type, [](auto t) -> Handler {
    using T = decltype(t);
    return &binary<T, T, T, F>;
  });
  b.plain(type, 2);
}

bool notMask(Warp &warp, const Instruction &i) {
  warp.setMask(i.to[0], ~warp.mask(i.from[0]));
  return true;
}

template <class F> void shift(Builder &b, std::initializer_list<Type> types) {
  Type type = b.expectType(types);
  b.out.run = byInteger(type, [](auto t) -> Handler {
    using T = decltype(t);
    return &binary<T, T, uint32_t, F>;
  });
  b.endModifiers();
  b.to(type);
  b.from(type);
  b.from(Type::u32);
  b.endOperands();
}

/// Bit 4a + 2b + c of the table is the result of bits a, b and c.
bool lop3(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.slots<uint32_t>(i.from[0]);
  const uint32_t *b = warp.slots<uint32_t>(i.from[1]);
  const uint32_t *c = warp.slots<uint32_t>(i.from[2]);
  uint32_t select[8];
  for (int k = 0; k < 8; ++k)
    select[k] = i.immediate >> k & 1 ? ~0u : 0;
  eachLane<uint32_t>(warp, i.to[0], [&](int l) {
    uint32_t made = 0;
    for (int k = 0; k < 8; ++k)
      made |= select[k] & (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) &
              (k & 1 ? c[l] : ~c[l]);
    return made;
  });
  return true;
}

/// d|p: p is whether d is not 0, combined with another predicate.
bool lop3AndTest(Warp &warp, const Instruction &i) {
  uint32_t made[kLanes];
  uint32_t with = warp.mask(i.from[3]) ^ (i.flag ? ~0u : 0);
  const uint32_t *a = warp.slots<uint32_t>(i.from[0]);
  const uint32_t *b = warp.slots<uint32_t>(i.from[1]);
  const uint32_t *c = warp.slots<uint32_t>(i.from[2]);
  uint32_t mask = 0;
  for (int l = 0; l < kLanes; ++l) {
    made[l] = 0;
    for (int k = 0; k < 8; ++k)
      if (i.immediate >> k & 1)
        made[l] |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) &
                   (k & 1 ? c[l] : ~c[l]);
    mask |= uint32_t(made[l] != 0) << l;
  }
  if (i.to[0] != kNowhere)
    eachLane<uint32_t>(warp, i.to[0], [&](int l) { return made[l]; });
  warp.setMask(i.to[1], i.variant ? mask & with : mask | with);
  return true;
}

} // namespace

void decodeAnd(Builder &b) { logic<And>(b); }
void decodeOr(Builder &b) { logic<Or>(b); }
void decodeXor(Builder &b) { logic<Xor>(b); }

void decodeNot(Builder &b) {
  Type type = b.expectType({Type::pred, Type::b16, Type::b32, Type::b64});
  b.out.run =
      type == Type::pred ? &notMask : byInteger(type, [](auto t) -> Handler {
        return &unary<decltype(t), decltype(t), Not>;
      });
  b.plain(type, 1);
}

void decodeCnot(Builder &b) {
  Type type = b.expectType({Type::b16, Type::b32, Type::b64});
  b.out.run = byInteger(type, [](auto t) -> Handler {
    return &unary<decltype(t), decltype(t), Cnot>;
  });
  b.plain(type, 1);
}

void decodeShl(Builder &b) { shift<Shl>(b, {Type::b16, Type::b32, Type::b64}); }

void decodeShr(Builder &b) {
  shift<Shr>(b, {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32,
                 Type::u64, Type::s16, Type::s32, Type::s64});
}

void decodeLop3(Builder &b) {
  auto combine = b.takeOneOf({"or", "and"});
  b.expectType({Type::b32});
  b.endModifiers();
  if (combine) {
    b.needs(70, 82);
    b.out.run = lop3AndTest;
    b.out.variant = uint8_t(*combine);
    b.toPair(Type::b32, true);
    if (b.out.to[1] == kNowhere)
      b.problem("lop3: expected two results, d|p");
  } else {
    b.out.run = lop3;
    b.to(Type::b32);
  }
  for (int k = 0; k < 3; ++k)
    b.from(Type::b32);
  b.out.immediate = b.integer("a table of 8 bits");
  if (b.out.immediate & ~int64_t(255))
    b.problem("lop3: a table has 8 bits");
  if (combine)
    b.fromPredicate();
  b.endOperands();
}

} // namespace mtc::ptx
