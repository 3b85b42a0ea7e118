//===- half.cpp - arithmetic of f16, bf16 and pairs of them ---------------===//
//
// Made in double, from which one rounding gives the right bits.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/families/float_modifiers.h"
#include "test/cuda/ptx/machine/floats.h"

namespace mtc::ptx {
namespace {

/// What a half's instruction does beside its operation, in variant.
enum Modifiers : uint8_t { pair = 1, flush = 2, saturate = 4, relu = 8 };
constexpr uint16_t kNan16 = 0x7fff;

template <class H> constexpr SmallFormat formatOf() {
  return std::is_same_v<H, F16> ? kF16 : kBf16;
}

struct Add {
  static constexpr unsigned operands = 2;
  static double of(double a, double b, double) { return oddAdd(a, b); }
};
struct Sub {
  static constexpr unsigned operands = 2;
  static double of(double a, double b, double) { return oddAdd(a, -b); }
};
struct Mul {
  static constexpr unsigned operands = 2;
  static double of(double a, double b, double) { return a * b; }
};
struct Fma {
  static constexpr unsigned operands = 3;
  static double of(double a, double b, double c) { return oddFma(a, b, c); }
};

template <class H> uint16_t maybeFlushed(uint16_t bits, bool flushes) {
  constexpr uint16_t kExponent = std::is_same_v<H, F16> ? 0x7c00 : 0x7f80;
  return flushes && !(bits & kExponent) ? bits & 0x8000 : bits;
}

template <class H, class F>
uint16_t computed(const uint16_t (&in)[3], uint8_t how) {
  double values[3];
  for (int k = 0; k < 3; ++k)
    values[k] = widened(H{maybeFlushed<H>(in[k], how & flush)});
  double made = F::of(values[0], values[1], values[2]);
  // .ftz looks at what is not rounded yet.
  if ((how & flush) && std::fabs(made) < 0x1p-14)
    made = std::copysign(0.0, made);
  if (how & saturate)
    made = saturated(made);
  if ((how & relu) && made < 0)
    made = 0;
  auto bits = uint16_t(toFormat(made, formatOf<H>(), Rounding::nearest));
  if ((how & relu) && bits == 0x8000)
    bits = 0;
  return maybeFlushed<H>(bits, how & flush);
}

template <class H, class F> bool arithmetic(Warp &warp, const Instruction &i) {
  int halves = i.variant & pair ? 2 : 1;
  forLanes(warp.active, [&](int l) {
    uint32_t made = 0;
    for (int h = 0; h < halves; ++h) {
      uint16_t in[3] = {};
      for (unsigned k = 0; k < i.fromCount; ++k)
        in[k] = uint16_t(warp.slots<uint32_t>(i.from[k])[l] >> (16 * h));
      made |= uint32_t(computed<H, F>(in, i.variant)) << (16 * h);
    }
    warp.slots<uint32_t>(i.to[0])[l] = made;
  });
  return true;
}

constexpr std::initializer_list<Type> kHalves = {Type::f16, Type::f16x2,
                                                 Type::bf16, Type::bf16x2};

bool isBrain(Type type) { return type == Type::bf16 || type == Type::bf16x2; }

Type takeHalf(Builder &b, uint8_t &how) {
  Type type = b.expectType(kHalves);
  if (bytesOf(type) == 4)
    how |= pair;
  if (isBrain(type) && how & (flush | saturate))
    b.problem("bf16 has neither .ftz nor .sat");
  b.needs(isBrain(type) ? 80 : 53, isBrain(type) ? 70 : 42);
  return type;
}

template <class F> void decodeArithmetic(Builder &b) {
  constexpr bool kIsFma = F::operands == 3;
  if (!b.take("rn")) {
    if (kIsFma)
      b.expectOneOf({"rn"});
    else
      b.contractable();
  }
  uint8_t how = 0;
  if (b.take("ftz")) {
    b.flushesToZero();
    how |= flush;
  }
  if (b.take("sat"))
    how |= saturate;
  else if (kIsFma && b.take("relu"))
    how |= relu;
  Type type = takeHalf(b, how);
  if (isBrain(type) && !kIsFma)
    b.needs(90, 78);
  b.out.variant = how;
  b.out.run = isBrain(type) ? arithmetic<Bf16, F> : arithmetic<F16, F>;
  b.plain(type, F::operands);
}

enum Extreme : uint8_t { keepsNan = 4, ofSizes = 8, most = 16 };

template <class H> uint16_t extremeOf(uint16_t a, uint16_t b, uint8_t how) {
  a = maybeFlushed<H>(a, how & flush);
  b = maybeFlushed<H>(b, how & flush);
  uint16_t sign = how & ofSizes ? (a ^ b) & 0x8000 : 0;
  if (how & ofSizes) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  float x = widened(H{a}), y = widened(H{b});
  if ((x != x && y != y) || ((how & keepsNan) && (x != x || y != y)))
    return kNan16;
  if (x != x || y != y)
    return (x != x ? b : a) | sign;
  bool first = x == y ? std::signbit(x) != bool(how & most)
                      : (x < y) != bool(how & most);
  return (first ? a : b) | sign;
}

template <class H> bool extreme(Warp &warp, const Instruction &i) {
  int halves = i.variant & pair ? 2 : 1;
  forLanes(warp.active, [&](int l) {
    uint32_t a = warp.slots<uint32_t>(i.from[0])[l], made = 0;
    uint32_t b = warp.slots<uint32_t>(i.from[1])[l];
    for (int h = 0; h < 16 * halves; h += 16)
      made |=
          uint32_t(extremeOf<H>(uint16_t(a >> h), uint16_t(b >> h), i.variant))
          << h;
    warp.slots<uint32_t>(i.to[0])[l] = made;
  });
  return true;
}

void decodeExtreme(Builder &b, uint8_t how) {
  bool flushes = b.take("ftz");
  if (flushes)
    b.flushesToZero();
  if (b.take("NaN"))
    how |= keepsNan;
  if (b.take("xorsign")) {
    b.expectOneOf({"abs"});
    b.needs(86, 72);
    how |= ofSizes;
  }
  uint8_t shape = flushes ? flush : 0;
  Type type = takeHalf(b, shape);
  b.needs(80, 70);
  b.out.variant = how | shape;
  b.out.run = isBrain(type) ? extreme<Bf16> : extreme<F16>;
  b.plain(type, 2);
}

/// A NaN becomes the one that arithmetic makes.
template <class H, bool Negates> uint16_t changed(uint32_t bits) {
  float value = widened(H{uint16_t(bits)});
  if (value != value)
    return 0x7fff;
  return uint16_t(Negates ? bits ^ 0x8000 : bits & 0x7fff);
}

/// abs and neg change the sign's bit; variant: which, and whether of a pair.
template <class H, bool Negates>
bool changeSign(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](int l) {
    uint32_t a = warp.slots<uint32_t>(i.from[0])[l];
    uint32_t low = maybeFlushed<H>(uint16_t(a), i.variant & flush);
    uint32_t high = maybeFlushed<H>(uint16_t(a >> 16), i.variant & flush);
    warp.slots<uint32_t>(i.to[0])[l] =
        uint32_t(changed<H, Negates>(high)) << 16 | changed<H, Negates>(low);
  });
  return true;
}

template <bool Negates> void decodeSign(Builder &b) {
  uint8_t how = 0;
  if (b.take("ftz")) {
    b.flushesToZero();
    how |= flush;
  }
  Type type = takeHalf(b, how);
  b.out.variant = how;
  b.out.run =
      isBrain(type) ? changeSign<Bf16, Negates> : changeSign<F16, Negates>;
  b.plain(type, 1);
}

} // namespace

void halfAdd(Builder &b) { decodeArithmetic<Add>(b); }
void halfSub(Builder &b) { decodeArithmetic<Sub>(b); }
void halfMul(Builder &b) { decodeArithmetic<Mul>(b); }
void halfFma(Builder &b) { decodeArithmetic<Fma>(b); }
void halfMin(Builder &b) { decodeExtreme(b, 0); }
void halfMax(Builder &b) { decodeExtreme(b, most); }
void halfAbs(Builder &b) { decodeSign<false>(b); }
void halfNeg(Builder &b) { decodeSign<true>(b); }

} // namespace mtc::ptx
