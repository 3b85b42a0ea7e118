//===- elementary.cpp - exp, log, tanh, erf, sin, cos in IR ---------------===//
//
// The polynomials are near-minimax: weighted least squares with Lawson's
// iteration at Chebyshev nodes in 40 digits, then rounded to fp32. The bound
// behind each is the relative error of the result, before rounding.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

Type codegen::withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

static Value splat(ImplicitLocOpBuilder &b, Type like, TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(like))
    value = SplatElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, value);
}

Value codegen::emitConstant(ImplicitLocOpBuilder &b, Type like, double v) {
  return splat(b, withElement(like, b.getF32Type()),
               b.getF32FloatAttr(static_cast<float>(v)));
}

Value codegen::emitInteger(ImplicitLocOpBuilder &b, Type like, int64_t v) {
  return splat(b, like, b.getIntegerAttr(getElementTypeOrSelf(like), v));
}

namespace {

/// Arithmetic on values of one shape, written as it is read.
struct Math {
  ImplicitLocOpBuilder &b;
  Type type, ints;

  Math(ImplicitLocOpBuilder &b, Type type)
      : b(b), type(type), ints(withElement(type, b.getI32Type())) {}

  Value f(double v) const { return emitConstant(b, type, v); }
  Value i(int64_t v) const { return emitInteger(b, ints, v); }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) const {
    return math::FmaOp::create(b, x, y, z);
  }
  Value abs(Value x) const { return toFloat(andi(toInt(x), i(0x7fffffff))); }
  Value toInt(Value x) const { return arith::BitcastOp::create(b, ints, x); }
  Value toFloat(Value x) const { return arith::BitcastOp::create(b, type, x); }
  Value addi(Value x, Value y) const { return arith::AddIOp::create(b, x, y); }
  Value subi(Value x, Value y) const { return arith::SubIOp::create(b, x, y); }
  Value andi(Value x, Value y) const { return arith::AndIOp::create(b, x, y); }
  Value ori(Value x, Value y) const { return arith::OrIOp::create(b, x, y); }
  Value xori(Value x, Value y) const { return arith::XOrIOp::create(b, x, y); }
  Value shl(Value x, int64_t n) const {
    return arith::ShLIOp::create(b, x, i(n));
  }
  Value shr(Value x, int64_t n) const {
    return arith::ShRSIOp::create(b, x, i(n));
  }
  Value shru(Value x, int64_t n) const {
    return arith::ShRUIOp::create(b, x, i(n));
  }
  Value cmp(arith::CmpFPredicate p, Value x, Value y) const {
    return arith::CmpFOp::create(b, p, x, y);
  }
  Value select(Value c, Value x, Value y) const {
    return arith::SelectOp::create(b, c, x, y);
  }
  /// The sign bit of `sign` on the magnitude of `x`, which is >= 0.
  Value withSign(Value x, Value sign) const {
    return toFloat(ori(toInt(x), andi(toInt(sign), i(int64_t(-2147483648ll)))));
  }
  /// c[0] + c[1]·x + ..., by Horner's rule.
  Value poly(Value x, ArrayRef<double> c) const {
    Value sum = f(c.back());
    for (double k : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, f(k));
    return sum;
  }
};

/// a / b for 0 <= a and 1 <= b <= 2^126, within a unit in the last place: a
/// division costs vectors more, and on a GPU it is a branch for each element,
/// as it is made for subnormal numbers and infinities, too. NaN stays.
Value quotient(const Math &m, Value a, Value b) {
  // Subtracting from a constant negates the exponent: 1/b within 5.1 %, which
  // r + r(e + e^2), e = 1 - br, cubes (2^-12.9) and the last line squares
  // (2^-25.8).
  // From 2^125.9 on the guess is no normal number, which no target flushes.
  Value r = m.toFloat(m.subi(m.i(0x7ef311c3), m.toInt(b)));
  Value minusB = arith::NegFOp::create(m.b, b);
  Value e = m.fma(minusB, r, m.f(1.0));
  r = m.fma(r, m.fma(e, e, e), r);
  Value q = m.mul(a, r);
  return m.fma(m.fma(minusB, q, a), r, q);
}

/// Adding 1.5·2^23 rounds to an integer, which then stands in the low bits.
constexpr double kRound = 12582912.0;
constexpr int64_t kRoundBits = 0x4b400000;
/// ln 2 in two parts; the first has trailing zeros, so n·hi is exact.
constexpr double kLn2Hi = 0x1.62e4p-1, kLn2Lo = 0x1.7f7d1cp-20;

struct Reduced {
  Value n;      ///< integer, i32
  Value minus1; ///< e^r - 1
};

/// x = n·ln 2 + r with |r| <= ln 2 / 2; e^r - 1 = r + r^2·q(r), 2^-26.2
/// relative to e^r - 1.
Reduced reduceExp(const Math &m, Value x) {
  Value t = m.fma(x, m.f(0x1.715476p+0), m.f(kRound));
  Value n = m.sub(t, m.f(kRound));
  Value r = m.fma(n, m.f(-kLn2Hi), x);
  r = m.fma(n, m.f(-kLn2Lo), r);
  Value q = m.poly(r, {0.5, 0x1.555556p-3, 0x1.5554aep-5, 0x1.111098p-7,
                       0x1.6d74e0p-10, 0x1.a19660p-13});
  return {m.subi(m.toInt(t), m.i(kRoundBits)), m.fma(m.mul(r, r), q, r)};
}

/// sin and cos share the reduction x = n·pi/2 + r; `quadrant` 0 gives sin.
Value emitSinCos(ImplicitLocOpBuilder &b, Value x, int64_t quadrant) {
  Math m(b, x.getType());
  Value t = m.fma(x, m.f(0x1.45f306p-1), m.f(kRound));
  Value n = m.sub(t, m.f(kRound));
  // pi/2 in three parts of fp32.
  Value r = m.fma(n, m.f(-0x1.921fb6p+0), x);
  r = m.fma(n, m.f(0x1.777a5cp-25), r);
  r = m.fma(n, m.f(0x1.ee59dap-50), r);
  Value q = m.addi(m.toInt(t), m.i(quadrant));
  Value z = m.mul(r, r);
  Value s = m.poly(
      z, {-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f7ep-13, 0x1.6cd1a8p-19});
  s = m.fma(m.mul(r, z), s, r);
  Value c = m.poly(
      z, {0x1.555556p-5, -0x1.6c16b8p-10, 0x1.a010dep-16, -0x1.241e6ap-22});
  c = m.fma(m.mul(z, z), c, m.fma(z, m.f(-0.5), m.f(1.0)));
  Value odd = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                    m.andi(q, m.i(1)), m.i(0));
  Value magnitude = m.select(odd, c, s);
  Value flip = m.shl(m.andi(q, m.i(2)), 30);
  return m.toFloat(m.xori(m.toInt(magnitude), flip));
}

} // namespace

Value codegen::emitExp(ImplicitLocOpBuilder &b, Value x) {
  Math m(b, x.getType());
  Reduced e = reduceExp(m, x);
  Value p = m.add(e.minus1, m.f(1.0));
  // Adding n to the exponent field is exact where the result is normal; the two
  // selects replace all other lanes, NaN among them.
  Value result = m.toFloat(m.addi(m.toInt(p), m.shl(e.n, 23)));
  Value low = m.cmp(arith::CmpFPredicate::OLT, x, m.f(-0x1.5d589ep+6));
  result = m.select(low, m.f(0.0), result);
  Value high = m.cmp(arith::CmpFPredicate::UGT, x, m.f(0x1.62e42ep+6));
  return m.select(high, m.mul(x, m.f(0x1.fffffep+127)), result);
}

Value codegen::emitTanh(ImplicitLocOpBuilder &b, Value x) {
  // tanh a = E / (E + 2) with E = e^(2a) - 1, which does not cancel for a >= 0.
  // Beyond 9.1 the result rounds to 1.
  Math m(b, x.getType());
  Value a = m.abs(x);
  Value big = m.cmp(arith::CmpFPredicate::OGT, a, m.f(9.1));
  a = m.select(big, m.f(9.1), a);
  Reduced e = reduceExp(m, m.add(a, a));
  Value scale = m.toFloat(m.addi(m.shl(e.n, 23), m.i(0x3f800000)));
  Value em1 = m.fma(scale, e.minus1, m.sub(scale, m.f(1.0)));
  return m.withSign(quotient(m, em1, m.add(em1, m.f(2.0))), x);
}

Value codegen::emitLogistic(ImplicitLocOpBuilder &b, Value x) {
  // Between these e^-x is a normal number, and beyond the upper one it changes
  // nothing. A NaN passes both comparisons and the sum.
  Math m(b, x.getType());
  Value y = arith::NegFOp::create(b, x);
  Value low = m.cmp(arith::CmpFPredicate::OGT, y, m.f(87.3));
  y = m.select(low, m.f(87.3), y);
  y = m.select(m.cmp(arith::CmpFPredicate::OLT, y, m.f(-87.3)), m.f(-87.3), y);
  Reduced e = reduceExp(m, y);
  Value scale = m.toFloat(m.addi(m.shl(e.n, 23), m.i(0x3f800000)));
  Value sum = m.fma(scale, e.minus1, m.add(scale, m.f(1.0)));
  return m.select(low, m.f(0.0), quotient(m, m.f(1.0), sum));
}

Value codegen::emitLog(ImplicitLocOpBuilder &b, Value x) {
  Math m(b, x.getType());
  // Subnormal numbers are scaled to normal ones.
  Value tiny = m.cmp(arith::CmpFPredicate::OLT, x, m.f(0x1p-126));
  Value y = m.select(tiny, m.mul(x, m.f(0x1p+23)), x);
  Value bias = m.select(tiny, m.f(-23.0), m.f(0.0));
  // y = 2^e·(1 + f), 1 + f in [sqrt 1/2, sqrt 2).
  Value bits = m.toInt(y);
  Value e = m.shr(m.subi(bits, m.i(0x3f3504f3)), 23);
  Value f = m.sub(m.toFloat(m.subi(bits, m.shl(e, 23))), m.f(1.0));
  Value n = m.add(arith::SIToFPOp::create(b, m.type, e), bias);
  // log(1+f) = f - f^2/2 + f^3·P(f), 2^-30.3.
  Value p = m.poly(f, {0x1.555548p-2, -0x1.000006p-2, 0x1.99a4b6p-3,
                       -0x1.555c4cp-3, 0x1.233766p-3, -0x1.fc2252p-4,
                       0x1.e6f0cap-4, -0x1.de3a6cp-4, 0x1.1454d4p-4});
  Value f2 = m.mul(f, f);
  Value low = m.fma(n, m.f(kLn2Lo), m.mul(m.mul(f, f2), p));
  low = m.fma(f2, m.f(-0.5), low);
  Value result = m.fma(n, m.f(kLn2Hi), m.add(f, low));
  // inf and NaN give themselves; 0 gives -inf; below 0, NaN.
  Value finite = m.cmp(arith::CmpFPredicate::OLT, x, m.f(INFINITY));
  result = m.select(finite, result, x);
  Value zero = m.cmp(arith::CmpFPredicate::OEQ, x, m.f(0.0));
  result = m.select(zero, m.f(-INFINITY), result);
  Value negative = m.cmp(arith::CmpFPredicate::OLT, x, m.f(0.0));
  return m.select(negative, m.f(NAN), result);
}

Value codegen::emitErf(ImplicitLocOpBuilder &b, Value x) {
  Math m(b, x.getType());
  Value a = m.abs(x);
  // |x| <= 0.92: x + x·P(x^2), 2^-31.
  Value small =
      m.poly(m.mul(a, a),
             {0x1.06eba8p-3, -0x1.812744p-2, 0x1.ce2e18p-4, -0x1.b80fc2p-6,
              0x1.54d3a8p-8, -0x1.aaa862p-11, 0x1.5e351ep-14});
  small = m.fma(a, small, a);
  // Else 1 - e^-Q(|x|), Q = -log erfc, 2^-34; erf rounds to 1 from 4 on.
  Value capped =
      m.select(m.cmp(arith::CmpFPredicate::OGT, a, m.f(4.0)), m.f(4.0), a);
  Value q = m.poly(capped, {-0x1.6e5feep-13, 0x1.2127e6p+0, 0x1.444606p-1,
                            0x1.bb8416p-4, -0x1.9b8efep-6, 0x1.115b96p-8,
                            -0x1.c793d0p-12, 0x1.61ee7ap-16});
  Value large = m.sub(m.f(1.0), emitExp(b, m.sub(m.f(0.0), q)));
  Value isLarge = m.cmp(arith::CmpFPredicate::OGT, a, m.f(0.92));
  return m.withSign(m.select(isLarge, large, small), x);
}

Value codegen::emitSin(ImplicitLocOpBuilder &b, Value x) {
  return emitSinCos(b, x, 0);
}
Value codegen::emitCos(ImplicitLocOpBuilder &b, Value x) {
  return emitSinCos(b, x, 1);
}

Value codegen::emitRsqrt(ImplicitLocOpBuilder &b, Value x) {
  Math m(b, x.getType());
  return m.div(m.f(1.0), math::SqrtOp::create(b, x));
}

/// Negative numbers descend with their magnitude: its bits are inverted.
static Value inverted(const Math &m, Value bits) {
  return m.xori(bits, m.andi(m.shr(bits, 31), m.i(0x7fffffff)));
}

/// Inverted -infinity. NaN with a sign is below it, and comes out on top.
static constexpr int64_t kLeast = -0x7f800001;

Value codegen::emitOrder(ImplicitLocOpBuilder &b, Value x) {
  Math m(b, x.getType());
  return m.subi(inverted(m, m.toInt(x)), m.i(kLeast));
}

Value codegen::emitFromOrder(ImplicitLocOpBuilder &b, Value order) {
  Math m(b, withElement(order.getType(), b.getF32Type()));
  return m.toFloat(inverted(m, m.addi(order, m.i(kLeast))));
}

Value codegen::emitFromBf16(ImplicitLocOpBuilder &b, Value bits) {
  Math m(b, withElement(bits.getType(), b.getF32Type()));
  return m.toFloat(m.shl(arith::ExtUIOp::create(b, m.ints, bits), 16));
}

Value codegen::emitToBf16(ImplicitLocOpBuilder &b, Value x) {
  Math m(b, x.getType());
  Value bits = m.toInt(x);
  Value odd = m.andi(m.shru(bits, 16), m.i(1));
  Value rounded = m.addi(m.addi(bits, m.i(0x7fff)), odd);
  // A NaN keeps its upper bits and becomes quiet; rounding could make it inf.
  Value nan = m.cmp(arith::CmpFPredicate::UNO, x, x);
  Value chosen = m.select(nan, m.ori(bits, m.i(0x400000)), rounded);
  return arith::TruncIOp::create(b, withElement(m.type, b.getI16Type()),
                                 m.shru(chosen, 16));
}

Value codegen::emitToBf16Natively(ImplicitLocOpBuilder &b, Value x) {
  Value narrow =
      arith::TruncFOp::create(b, withElement(x.getType(), b.getBF16Type()), x);
  return arith::BitcastOp::create(b, withElement(x.getType(), b.getI16Type()),
                                  narrow);
}

Value codegen::emitExactToBf16(ImplicitLocOpBuilder &b, Value x, bool flushes) {
  Math m(b, x.getType());
  Value bits = m.toInt(x);
  if (flushes) {
    Value isTiny = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                         m.andi(bits, m.i(0x7f800000)), m.i(0));
    Value sign = m.andi(bits, m.i(int64_t(-2147483648ll)));
    bits = m.select(isTiny, sign, bits);
  }
  return arith::TruncIOp::create(b, withElement(m.type, b.getI16Type()),
                                 m.shru(bits, 16));
}

Value codegen::emitFromF16(ImplicitLocOpBuilder &b, Value bits) {
  Value narrow = arith::BitcastOp::create(
      b, withElement(bits.getType(), b.getF16Type()), bits);
  return arith::ExtFOp::create(b, withElement(bits.getType(), b.getF32Type()),
                               narrow);
}

Value codegen::emitToF16(ImplicitLocOpBuilder &b, Value x) {
  Value narrow =
      arith::TruncFOp::create(b, withElement(x.getType(), b.getF16Type()), x);
  return arith::BitcastOp::create(b, withElement(x.getType(), b.getI16Type()),
                                  narrow);
}
