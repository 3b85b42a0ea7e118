//===- integer.cpp - arithmetic of integers -------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"

#include <limits>

namespace mtc::ptx {
namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Wide =
    std::conditional_t<std::is_signed_v<T>,
                       std::conditional_t<sizeof(T) == 2, int32_t, int64_t>,
                       std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>>;

// By 64 bits without a sign, so that nothing overflows.
struct Add {
  template <class T> T operator()(T a, T b) const {
    return T(uint64_t(a) + uint64_t(b));
  }
};
struct Sub {
  template <class T> T operator()(T a, T b) const {
    return T(uint64_t(a) - uint64_t(b));
  }
};
struct Mul {
  template <class T> T operator()(T a, T b) const {
    return T(uint64_t(a) * uint64_t(b));
  }
};
struct MulHigh {
  template <class T> T operator()(T a, T b) const {
    if constexpr (sizeof(T) < 8)
      return T((Product<T>(a) * Product<T>(b)) >> (8 * sizeof(T)));
    else if constexpr (std::is_signed_v<T>)
      return T(((__int128)(a)*b) >> 64);
    else
      return T(((unsigned __int128)(a)*b) >> 64);
  }
  template <class T>
  using Product = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
};
struct MulWide {
  template <class T> Wide<T> operator()(T a, T b) const {
    return Wide<T>(uint64_t(a) * uint64_t(b));
  }
};
struct Mad {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(Mul()(a, b), c);
  }
};
struct MadHigh {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(MulHigh()(a, b), c);
  }
};
struct MadWide {
  template <class T> Wide<T> operator()(T a, T b, Wide<T> c) const {
    return Add()(MulWide()(a, b), c);
  }
};

struct Saturated {
  static int32_t of(int64_t value) {
    return int32_t(std::min<int64_t>(
        std::max<int64_t>(value, std::numeric_limits<int32_t>::min()),
        std::numeric_limits<int32_t>::max()));
  }
};
struct AddSaturated {
  int32_t operator()(int32_t a, int32_t b) const {
    return Saturated::of(int64_t(a) + b);
  }
};
struct SubSaturated {
  int32_t operator()(int32_t a, int32_t b) const {
    return Saturated::of(int64_t(a) - b);
  }
};
struct MadHighSaturated {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return Saturated::of(int64_t(MulHigh()(a, b)) + c);
  }
};

// By zero, and of the lowest number by -1: what the text of PTX leaves to the
// machine; these are an H100's.
struct Div {
  template <class T> T operator()(T a, T b) const {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return T(0 - uint64_t(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> T operator()(T a, T b) const {
    if (b == 0) // left open by the ISA; an H100 gives this
      return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return T(0);
    return T(a % b);
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class Of> struct NotNegative {
  int32_t operator()(int32_t a, int32_t b) const {
    return std::max(Of()(a, b), 0);
  }
};
struct Abs {
  template <class T> T operator()(T a) const {
    return a < 0 ? T(0 - uint64_t(a)) : a;
  }
};
struct Neg {
  template <class T> T operator()(T a) const { return T(0 - uint64_t(a)); }
};
struct Sad {
  template <class T> T operator()(T a, T b, T c) const {
    uint64_t distance =
        a < b ? uint64_t(b) - uint64_t(a) : uint64_t(a) - uint64_t(b);
    return T(uint64_t(c) + distance);
  }
};

template <class F> Handler binaryOf(Type type) {
  return byInteger(type, [](auto t) -> Handler {
    using T = decltype(t);
    return &binary<T, T, T, F>;
  });
}

template <class F> Handler ternaryOf(Type type) {
  return byInteger(type, [](auto t) -> Handler {
    using T = decltype(t);
    return &ternary<T, T, T, T, F>;
  });
}

constexpr std::initializer_list<Type> kAll = {Type::u16, Type::u32, Type::u64,
                                              Type::s16, Type::s32, Type::s64};
constexpr std::initializer_list<Type> kSigned = {Type::s16, Type::s32,
                                                 Type::s64};
constexpr std::initializer_list<Type> kNarrow = {Type::u16, Type::u32,
                                                 Type::s16, Type::s32};

Type twice(Type type) {
  switch (type) {
  case Type::u16:
    return Type::u32;
  case Type::u32:
    return Type::u64;
  case Type::s16:
    return Type::s32;
  default:
    return Type::s64;
  }
}

template <class F> void plainBinary(Builder &b) {
  Type type = b.expectType(kAll);
  b.out.run = binaryOf<F>(type);
  b.plain(type, 2);
}

template <class F> void saturating(Builder &b) {
  b.out.run = binary<int32_t, int32_t, int32_t, F>;
  b.plain(b.expectType({Type::s32}), 2);
}

template <class F> void minOrMax(Builder &b) {
  if (pairedInteger(b))
    return;
  if (!b.take("relu"))
    return plainBinary<F>(b);
  b.needs(80, 80);
  b.out.run = binary<int32_t, int32_t, int32_t, NotNegative<F>>;
  b.plain(b.expectType({Type::s32}), 2);
}

void wide(Builder &b, bool adds) {
  Type type = b.expectType(kNarrow);
  b.out.run = byInteger(type, [&](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (sizeof(T) > 4)
      return nullptr;
    else if (adds)
      return &ternary<Wide<T>, T, T, Wide<T>, MadWide>;
    else
      return &binary<Wide<T>, T, T, MulWide>;
  });
  b.endModifiers();
  b.to(twice(type));
  b.from(type);
  b.from(type);
  if (adds)
    b.from(twice(type));
  b.endOperands();
}

} // namespace

void integerAdd(Builder &b) {
  if (pairedInteger(b))
    return;
  if (b.take("cc"))
    return addCarry(b);
  if (b.take("sat"))
    return saturating<AddSaturated>(b);
  plainBinary<Add>(b);
}

void integerSub(Builder &b) {
  if (pairedInteger(b))
    return;
  if (b.take("cc"))
    return subCarry(b);
  if (b.take("sat"))
    return saturating<SubSaturated>(b);
  plainBinary<Sub>(b);
}

void integerMul(Builder &b) {
  size_t part = b.expectOneOf({"lo", "hi", "wide"});
  if (part == 2)
    return wide(b, false);
  if (part == 1)
    return plainBinary<MulHigh>(b);
  plainBinary<Mul>(b);
}

void integerMad(Builder &b) {
  size_t part = b.expectOneOf({"lo", "hi", "wide"});
  b.out.variant = uint8_t(part);
  if (part == 2)
    return wide(b, true);
  if (b.take("cc"))
    return madCarry(b);
  if (part == 1 && b.take("sat")) {
    b.out.run = ternary<int32_t, int32_t, int32_t, int32_t, MadHighSaturated>;
    return b.plain(b.expectType({Type::s32}), 3);
  }
  Type type = b.expectType(kAll);
  b.out.run = part == 1 ? ternaryOf<MadHigh>(type) : ternaryOf<Mad>(type);
  b.plain(type, 3);
}

void integerDiv(Builder &b) { plainBinary<Div>(b); }
void decodeRem(Builder &b) { plainBinary<Rem>(b); }
void integerMin(Builder &b) { minOrMax<Min>(b); }
void integerMax(Builder &b) { minOrMax<Max>(b); }

void integerAbs(Builder &b) {
  Type type = b.expectType(kSigned);
  b.out.run = byInteger(type, [](auto t) -> Handler {
    return &unary<decltype(t), decltype(t), Abs>;
  });
  b.plain(type, 1);
}

void integerNeg(Builder &b) {
  Type type = b.expectType(kSigned);
  b.out.run = byInteger(type, [](auto t) -> Handler {
    return &unary<decltype(t), decltype(t), Neg>;
  });
  b.plain(type, 1);
}

void decodeSad(Builder &b) {
  Type type = b.expectType(kAll);
  b.out.run = ternaryOf<Sad>(type);
  b.plain(type, 3);
}

} // namespace mtc::ptx
