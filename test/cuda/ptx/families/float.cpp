//===- float.cpp - arithmetic of f32 and f64 ------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/families/float_modifiers.h"
#include "test/cuda/ptx/machine/floats.h"

#include <bit>

namespace mtc::ptx {
namespace {

struct Add {
  static constexpr RoundedOp op = RoundedOp::add;
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  static constexpr RoundedOp op = RoundedOp::sub;
  template <class T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  static constexpr RoundedOp op = RoundedOp::mul;
  template <class T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  static constexpr RoundedOp op = RoundedOp::div;
  template <class T> T operator()(T a, T b) const { return a / b; }
};
struct Fma {
  static constexpr RoundedOp op = RoundedOp::fma;
  float operator()(float a, float b, float c) const {
    return __builtin_fmaf(a, b, c);
  }
  double operator()(double a, double b, double c) const {
    return __builtin_fma(a, b, c);
  }
};

/// Below the least normal number before it is rounded, when .ftz looks at it. A
/// product of two f32 is exact in double.
inline bool isTinyProduct(float a, float b) {
  return std::fabs(double(a) * double(b)) < 0x1p-126;
}
inline bool isTinyQuotient(float a, float b) {
  return std::fabs(double(a)) < std::fabs(double(b)) * 0x1p-126;
}

/// Which NaN of several operands of f64 is the result: as an H100 has it.
template <class F> float withNan(float made, float, float, float) {
  return made;
}
template <class F> double withNan(double made, double a, double b, double c) {
  if constexpr (F::op == RoundedOp::fma)
    return firstNan(made, b, c, a);
  else if constexpr (F::op == RoundedOp::div)
    return firstNan(made, a, b);
  else
    return firstNan(made, b, a);
}

/// Around an operation: what comes in and what goes out.
template <class F, bool Flush, bool Saturate> struct Wrapped {
  template <class T> static T in(T value) {
    if constexpr (Flush)
      return flushed(value);
    else
      return value;
  }
  template <class T> static T end(T value) {
    value = canonical(value);
    if constexpr (Flush)
      value = flushed(value);
    if constexpr (Saturate)
      value = saturated(value);
    return value;
  }
  template <class T> T operator()(T a, T b) const {
    if constexpr (Flush && F::op == RoundedOp::mul)
      if (isTinyProduct(in(a), in(b)))
        return end(std::copysign(T(0), a) * std::copysign(T(1), b));
    return end(withNan<F>(F()(in(a), in(b)), a, b, T(0)));
  }
  template <class T> T operator()(T a, T b, T c) const {
    return end(withNan<F>(F()(in(a), in(b), in(c)), a, b, c));
  }
};

/// With a rounding that is not to nearest.
template <class T, class F> bool directed(Warp &warp, const Instruction &i) {
  auto how = Rounding(i.variant & 3);
  bool flush = i.variant & 4, saturate = i.variant & 8;
  auto in = [&](unsigned k, int l) {
    T value =
        k < i.fromCount ? fromSlot<T>(warp.slots<Slot<T>>(i.from[k])[l]) : T(0);
    if constexpr (sizeof(T) == 4)
      return flush ? flushed(value) : value;
    else
      return value;
  };
  T first[kLanes], second[kLanes], third[kLanes], results[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    first[l] = in(0, l);
    second[l] = in(1, l);
    third[l] = in(2, l);
  }
  roundAll(F::op, how, kLanes, first, second, third, results);
  forLanes(warp.active, [&](int l) {
    T a = first[l], b = second[l], c = third[l];
    T made = canonical(withNan<F>(results[l], a, b, c));
    if constexpr (sizeof(T) == 4) {
      bool tiny = (F::op == RoundedOp::mul && isTinyProduct(a, b)) ||
                  (F::op == RoundedOp::div && isTinyQuotient(a, b));
      if (flush)
        made = tiny && made == made ? std::copysign(0.0f, made) : flushed(made);
    }
    made = saturate ? saturated(made) : made;
    warp.slots<Slot<T>>(i.to[0])[l] = toSlot<T>(made);
  });
  return true;
}

template <class T, class F, bool Flush, bool Saturate> Handler nearest() {
  using W = Wrapped<F, Flush, Saturate>;
  if constexpr (F::op == RoundedOp::fma)
    return &ternary<T, T, T, T, W>;
  else
    return &binary<T, T, T, W>;
}

template <class F> Handler handlerOf(const FloatModifiers &how, Type type) {
  bool wide = type == Type::f64;
  if (how.rounding != Rounding::nearest)
    return wide ? &directed<double, F> : &directed<float, F>;
  if (wide)
    return nearest<double, F, false, false>();
  if (how.flush)
    return how.saturate ? nearest<float, F, true, true>()
                        : nearest<float, F, true, false>();
  return how.saturate ? nearest<float, F, false, true>()
                      : nearest<float, F, false, false>();
}

/// Two f32 in 64 bits, the first in the lower ones, each by itself.
template <class F, bool Flush> struct Pair {
  using Of = Wrapped<F, Flush, false>;
  static float half(uint64_t pair, int shift) {
    return std::bit_cast<float>(uint32_t(pair >> shift));
  }
  static uint64_t joined(float low, float high) {
    return std::bit_cast<uint32_t>(low) |
           uint64_t(std::bit_cast<uint32_t>(high)) << 32;
  }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return joined(Of()(half(a, 0), half(b, 0)), Of()(half(a, 32), half(b, 32)));
  }
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return joined(Of()(half(a, 0), half(b, 0), half(c, 0)),
                  Of()(half(a, 32), half(b, 32), half(c, 32)));
  }
};

template <class F, bool Flush> Handler handlerOfPairs() {
  using P = Pair<F, Flush>;
  if constexpr (F::op == RoundedOp::fma)
    return &ternary<uint64_t, uint64_t, uint64_t, uint64_t, P>;
  else
    return &binary<uint64_t, uint64_t, uint64_t, P>;
}

template <class F> void ofPairs(Builder &b, const FloatModifiers &how) {
  b.needs(100, 86);
  if (how.saturate)
    b.problem("f32x2 has no .sat");
  if (how.rounding != Rounding::nearest)
    b.problem("f32x2 is rounded to nearest only here");
  b.out.run =
      how.flush ? handlerOfPairs<F, true>() : handlerOfPairs<F, false>();
  b.plain(Type::f32x2, F::op == RoundedOp::fma ? 3 : 2);
}

/// add, sub, mul and fma.
template <class F> void arithmetic(Builder &b, bool mustRound) {
  FloatModifiers how = takeRounding(b, mustRound);
  takeFlush(b, how);
  how.saturate = b.take("sat");
  Type type = b.expectType({Type::f32, Type::f64, Type::f32x2});
  if (type == Type::f32x2)
    return ofPairs<F>(b, how);
  checkModifiers(b, how, type);
  b.out.variant = uint8_t(unsigned(how.rounding) | (how.flush ? 4 : 0) |
                          (how.saturate ? 8 : 0));
  b.out.run = handlerOf<F>(how, type);
  b.plain(type, F::op == RoundedOp::fma ? 3 : 2);
}

} // namespace

FloatModifiers takeRounding(Builder &b, bool mustRound) {
  FloatModifiers how;
  auto rounding = b.takeOneOf({"rn", "rz", "rm", "rp"});
  if (rounding)
    how.rounding = Rounding(*rounding);
  else if (mustRound)
    b.expectOneOf({"rn", "rz", "rm", "rp"});
  else
    b.contractable();
  return how;
}

void takeFlush(Builder &b, FloatModifiers &how) {
  how.flush = b.take("ftz");
  if (how.flush)
    b.flushesToZero();
}

void checkModifiers(Builder &b, const FloatModifiers &how, Type type) {
  if (type == Type::f64 && (how.flush || how.saturate))
    b.problem("f64 has neither .ftz nor .sat");
}

void floatAdd(Builder &b) { arithmetic<Add>(b, false); }
void floatSub(Builder &b) { arithmetic<Sub>(b, false); }
void floatMul(Builder &b) { arithmetic<Mul>(b, false); }
void floatFma(Builder &b) { arithmetic<Fma>(b, true); }

void floatDiv(Builder &b) {
  if (b.takeOneOf({"approx", "full"})) {
    FloatModifiers how;
    takeFlush(b, how);
    b.approximates();
    b.out.run = approximateDiv(how.flush);
    return b.plain(b.expectType({Type::f32}), 2);
  }
  FloatModifiers how = takeRounding(b, true);
  takeFlush(b, how);
  Type type = b.expectType({Type::f32, Type::f64});
  checkModifiers(b, how, type);
  b.out.variant = uint8_t(unsigned(how.rounding) | (how.flush ? 4 : 0));
  b.out.run = handlerOf<Div>(how, type);
  b.plain(type, 2);
}

} // namespace mtc::ptx
