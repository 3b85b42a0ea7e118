//===- approximate.cpp - functions that devices approximate ---------------===//
//
// PTX bounds the errors of these and leaves the bits open; a device has tables
// of its own. Here they are the double's result, rounded once to f32: nearly
// always the nearest one, and within all bounds. A test that compares bits with
// a device's leaves them out.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/families/float_modifiers.h"
#include "test/cuda/ptx/machine/floats.h"

namespace mtc::ptx {
namespace {

struct Rcp {
  double operator()(double a) const { return 1 / a; }
};
struct Sqrt {
  double operator()(double a) const { return std::sqrt(a); }
};
struct Rsqrt {
  double operator()(double a) const { return 1 / std::sqrt(a); }
};
struct Sin {
  double operator()(double a) const { return std::sin(a); }
};
struct Cos {
  double operator()(double a) const { return std::cos(a); }
};
struct Lg2 {
  double operator()(double a) const { return std::log2(a); }
};
struct Ex2 {
  double operator()(double a) const { return std::exp2(a); }
};
struct Tanh {
  double operator()(double a) const { return std::tanh(a); }
};

template <class F, bool Flush> struct InDouble {
  float operator()(float a) const {
    if (Flush)
      a = flushed(a);
    float made = canonical(float(F()(double(a))));
    return Flush ? flushed(made) : made;
  }
};

template <class F> Handler approximate(bool flush) {
  return flush ? &unary<float, float, InDouble<F, true>>
               : &unary<float, float, InDouble<F, false>>;
}

template <bool Flush> struct Div {
  float operator()(float a, float b) const {
    if (!Flush)
      return canonical(a / b);
    return flushed(canonical(flushed(a) / flushed(b)));
  }
};

/// .approx{.ftz}.f32
template <class F> void ofFloat(Builder &b) {
  b.expectOneOf({"approx"});
  FloatModifiers how;
  if (b.statement().opcode != "tanh")
    takeFlush(b, how);
  b.approximates();
  b.out.run = approximate<F>(how.flush);
  b.plain(b.expectType({Type::f32}), 1);
}

template <class H, class F> struct InHalf {
  static uint16_t of(uint16_t bits) {
    SmallFormat format = std::is_same_v<H, F16> ? kF16 : kBf16;
    return uint16_t(
        toFormat(F()(double(widened(H{bits}))), format, Rounding::nearest));
  }
  uint16_t operator()(uint16_t a) const { return of(a); }
  uint32_t operator()(uint32_t a) const {
    return uint32_t(of(uint16_t(a >> 16))) << 16 | of(uint16_t(a));
  }
};

/// Of a small float or a pair of them; false: the type is another.
template <class F> bool ofHalf(Builder &b) {
  auto type = b.lastType();
  if (!type || isWideFloat(*type))
    return false;
  b.expectOneOf({"approx"});
  b.approximates();
  bool brain = type == Type::bf16 || type == Type::bf16x2;
  if (brain && b.statement().opcode == "ex2" && !b.take("ftz"))
    b.expectOneOf({"ftz"});
  Type of = b.expectType({Type::f16, Type::f16x2, Type::bf16, Type::bf16x2});
  b.needs(brain ? 90 : 75, brain ? 78 : 70);
  bool pair = bytesOf(of) == 4;
  if (brain)
    b.out.run = pair ? &unary<uint32_t, uint32_t, InHalf<Bf16, F>>
                     : &unary<uint16_t, uint16_t, InHalf<Bf16, F>>;
  else
    b.out.run = pair ? &unary<uint32_t, uint32_t, InHalf<F16, F>>
                     : &unary<uint16_t, uint16_t, InHalf<F16, F>>;
  b.plain(of, 1);
  return true;
}

} // namespace

Handler approximateRcp(bool flush) { return approximate<Rcp>(flush); }
Handler approximateSqrt(bool flush) { return approximate<Sqrt>(flush); }
Handler approximateDiv(bool flush) {
  return flush ? &binary<float, float, float, Div<true>>
               : &binary<float, float, float, Div<false>>;
}

void decodeRsqrt(Builder &b) { ofFloat<Rsqrt>(b); }
void decodeSin(Builder &b) { ofFloat<Sin>(b); }
void decodeCos(Builder &b) { ofFloat<Cos>(b); }
void decodeLg2(Builder &b) { ofFloat<Lg2>(b); }

void decodeEx2(Builder &b) {
  if (!ofHalf<Ex2>(b))
    ofFloat<Ex2>(b);
}

void decodeTanh(Builder &b) {
  if (!ofHalf<Tanh>(b))
    ofFloat<Tanh>(b);
}

} // namespace mtc::ptx
