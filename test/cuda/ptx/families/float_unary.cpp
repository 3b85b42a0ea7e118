//===- float_unary.cpp - signs, extremes, roots of f32 and f64 ------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/families/float_modifiers.h"
#include "test/cuda/ptx/machine/floats.h"

namespace mtc::ptx {
namespace {

/// Of f64 a NaN stays, and its sign with it, but is made quiet.
float canonicalOf(float value) { return canonical(value); }
double canonicalOf(double value) { return firstNan(value, value); }

/// A NaN loses to a number, -0 is below 0.
template <bool Most> struct Extreme {
  template <class T> T operator()(T a, T b) const {
    bool aFirst = a == b ? std::signbit(a) != Most : (a < b) != Most;
    T chosen = aFirst ? a : b;
    chosen = b != b ? a : chosen;
    chosen = a != a ? b : chosen;
    return canonicalOf(chosen);
  }
};
template <bool Most> struct ExtremeOrNan {
  float operator()(float a, float b) const {
    return a != a || b != b ? __builtin_bit_cast(float, kNan32)
                            : Extreme<Most>()(a, b);
  }
};
/// Of sizes, with the sign of a product.
template <class F> struct OfSizes {
  float operator()(float a, float b) const {
    float size = F()(std::fabs(a), std::fabs(b));
    bool negative = std::signbit(a) != std::signbit(b);
    return size != size ? size : negative ? -size : size;
  }
};
template <class F> struct Flushing {
  template <class... T> float operator()(T... a) const {
    return flushed(F()(flushed(a)...));
  }
};
struct Abs {
  template <class T> T operator()(T a) const {
    return a != a ? canonicalOf(a) : std::fabs(a);
  }
};
struct Neg {
  template <class T> T operator()(T a) const {
    return a != a ? canonicalOf(a) : -a;
  }
};
struct Sqrt {
  static constexpr RoundedOp op = RoundedOp::sqrt;
  template <class T> T operator()(T a) const { return canonical(std::sqrt(a)); }
};
struct Rcp {
  static constexpr RoundedOp op = RoundedOp::div;
  template <class T> T operator()(T a) const { return canonical(T(1) / a); }
};
struct Copysign {
  template <class T> T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

template <class F> Handler pairOf(bool flush) {
  return flush ? &binary<float, float, float, Flushing<F>>
               : &binary<float, float, float, F>;
}

template <bool Most> void extreme(Builder &b) {
  FloatModifiers how;
  takeFlush(b, how);
  bool keepsNan = b.take("NaN");
  bool sizes = b.take("xorsign");
  if (sizes && !b.take("abs"))
    b.expectOneOf({"abs"});
  Type type = b.expectType({Type::f32, Type::f64});
  checkModifiers(b, how, type);
  if (type == Type::f64 && (keepsNan || sizes))
    b.problem("f64 has neither .NaN nor .xorsign.abs");
  if (keepsNan || sizes)
    b.needs(sizes ? 86 : 80, sizes ? 72 : 70);
  using Plain = Extreme<Most>;
  using OrNan = ExtremeOrNan<Most>;
  if (type == Type::f64)
    b.out.run = binary<double, double, double, Plain>;
  else if (keepsNan)
    b.out.run =
        sizes ? pairOf<OfSizes<OrNan>>(how.flush) : pairOf<OrNan>(how.flush);
  else
    b.out.run =
        sizes ? pairOf<OfSizes<Plain>>(how.flush) : pairOf<Plain>(how.flush);
  b.plain(type, 2);
}

template <class F> void sign(Builder &b) {
  FloatModifiers how;
  takeFlush(b, how);
  Type type = b.expectType({Type::f32, Type::f64});
  checkModifiers(b, how, type);
  b.out.run = type == Type::f64 ? &unary<double, double, F>
              : how.flush       ? &unary<float, float, Flushing<F>>
                                : &unary<float, float, F>;
  b.plain(type, 1);
}

template <class T, class F> bool directed(Warp &warp, const Instruction &i) {
  auto how = Rounding(i.variant & 3);
  constexpr bool kIsRcp = F::op == RoundedOp::div;
  forLanes(warp.active, [&](int l) {
    T a = fromSlot<T>(warp.slots<Slot<T>>(i.from[0])[l]);
    if constexpr (sizeof(T) == 4)
      a = i.flag ? flushed(a) : a;
    T made = rounded(F::op, how, kIsRcp ? T(1) : a, a, T(0));
    made = canonical(made);
    if constexpr (sizeof(T) == 4)
      made = i.flag ? flushed(made) : made;
    warp.slots<Slot<T>>(i.to[0])[l] = toSlot<T>(made);
  });
  return true;
}

template <class F> void root(Builder &b, Handler (*approximate)(bool)) {
  FloatModifiers how;
  if (b.take("approx")) {
    takeFlush(b, how);
    b.approximates();
    b.out.run = approximate(how.flush);
    return b.plain(b.expectType({Type::f32}), 1);
  }
  how = takeRounding(b, true);
  takeFlush(b, how);
  Type type = b.expectType({Type::f32, Type::f64});
  checkModifiers(b, how, type);
  bool wide = type == Type::f64;
  b.out.variant = uint8_t(how.rounding);
  b.out.flag = how.flush;
  if (how.rounding != Rounding::nearest)
    b.out.run = wide ? &directed<double, F> : &directed<float, F>;
  else
    b.out.run = wide        ? &unary<double, double, F>
                : how.flush ? &unary<float, float, Flushing<F>>
                            : &unary<float, float, F>;
  b.plain(type, 1);
}

/// The order of testp's modifiers.
template <class T> bool holds(size_t what, T value) {
  switch (what) {
  case 0:
    return std::isfinite(value);
  case 1:
    return std::isinf(value);
  case 2:
    return value == value;
  case 3:
    return value != value;
  case 4: // zero, too, on an H100
    return std::isnormal(value) || value == 0;
  default:
    return std::isfinite(value) && !std::isnormal(value) && value != 0;
  }
}

template <class T> bool testp(Warp &warp, const Instruction &i) {
  uint32_t made = 0;
  forLanes(warp.active, [&](int l) {
    T value = fromSlot<T>(warp.slots<Slot<T>>(i.from[0])[l]);
    made |= uint32_t(holds(i.variant, value)) << l;
  });
  warp.setMask(i.to[0], made);
  return true;
}

} // namespace

void floatMin(Builder &b) { extreme<false>(b); }
void floatMax(Builder &b) { extreme<true>(b); }
void floatAbs(Builder &b) { sign<Abs>(b); }
void floatNeg(Builder &b) { sign<Neg>(b); }
void decodeSqrt(Builder &b) { root<Sqrt>(b, approximateSqrt); }
void decodeRcp(Builder &b) { root<Rcp>(b, approximateRcp); }

void decodeCopysign(Builder &b) {
  Type type = b.expectType({Type::f32, Type::f64});
  b.out.run = type == Type::f64 ? &binary<double, double, double, Copysign>
                                : &binary<float, float, float, Copysign>;
  b.plain(type, 2);
}

void decodeTestp(Builder &b) {
  b.out.variant = uint8_t(b.expectOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}));
  Type type = b.expectType({Type::f32, Type::f64});
  b.out.run = type == Type::f64 ? testp<double> : testp<float>;
  b.endModifiers();
  b.toPredicate();
  b.from(type);
  b.endOperands();
}

} // namespace mtc::ptx
