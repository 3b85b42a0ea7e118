//===- convert.cpp - cvt --------------------------------------------------===//
#include "test/cuda/ptx/machine/conversion.h"

#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/floats.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

bool isFloat(Type type) { return classOf(type) == TypeClass::floating; }
bool isSmall(Type type) { return type == Type::f16 || type == Type::bf16; }

// An instruction has no room for a Conversion; its fields lie in the immediate.
int64_t packed(const Conversion &how) {
  return int64_t(how.to) | int64_t(how.from) << 8 |
         int64_t(how.rounding) << 16 | int64_t(how.integral) << 24 |
         int64_t(how.flush) << 25 | int64_t(how.saturate) << 26 |
         int64_t(how.finite) << 27 | int64_t(how.relu) << 28;
}
Conversion unpacked(int64_t bits) {
  Conversion how;
  how.to = Type(bits & 255);
  how.from = Type(bits >> 8 & 255);
  how.rounding = Rounding(bits >> 16 & 255);
  how.integral = bits >> 24 & 1;
  how.flush = bits >> 25 & 1;
  how.saturate = bits >> 26 & 1;
  how.finite = bits >> 27 & 1;
  how.relu = bits >> 28 & 1;
  return how;
}

bool anyTypes(Warp &warp, const Instruction &i) {
  Conversion how = unpacked(i.immediate);
  forLanes(warp.active, [&](int l) {
    uint64_t bits = warp.read(i.from[0], slotOfFrom(i, 0), l);
    warp.write(i.to[0], slotOfTo(i, 0), l, convert(how, bits));
  });
  return true;
}

/// Two f32 to a pair; the first operand is the upper half.
bool toPair(Warp &warp, const Instruction &i) {
  Conversion how = unpacked(i.immediate);
  forLanes(warp.active, [&](int l) {
    uint64_t high = convert(how, warp.read(i.from[0], 4, l));
    uint64_t low = convert(how, warp.read(i.from[1], 4, l));
    warp.write(i.to[0], 4, l, high << 16 | low);
  });
  return true;
}

// The usual ones, as loops over all lanes.
struct IntegerToInteger {
  template <class A> A operator()(A a) const { return a; }
};
struct Widen {
  float operator()(Bf16 a) const { return widened(a); } // NaNs stay as well
  float operator()(F16 a) const { return canonical(widened(a)); }
};
struct Same {
  template <class A> A operator()(A a) const { return a; }
};
struct ToBf16 {
  Bf16 operator()(float a) const {
    return a != a ? Bf16{0x7fff} : Bf16{runtime::roundToBf16(a)};
  }
};
struct ToF16 {
  F16 operator()(float a) const {
    return a != a ? F16{0x7fff} : F16{runtime::roundToF16(a)};
  }
};

/// Integers whose registers are as wide as their types.
template <class D> Handler integerTo(Type from) {
  return byInteger(from, [](auto a) -> Handler {
    return &unary<D, decltype(a), IntegerToInteger>;
  });
}

Handler betweenIntegers(const Conversion &how) {
  if (how.saturate)
    return nullptr;
  Handler made = nullptr;
  byInteger(how.to, [&](auto d) -> Handler {
    made = integerTo<decltype(d)>(how.from);
    return nullptr;
  });
  return made;
}

Handler usual(const Conversion &how) {
  bool plain = !how.integral && !how.flush && !how.saturate && !how.finite &&
               !how.relu && how.rounding == Rounding::nearest;
  if (!plain)
    return nullptr;
  if (!isFloat(how.from))
    return how.to == Type::f32 && how.from == Type::s32
               ? &unary<float, int32_t, IntegerToInteger>
           : how.to == Type::f32 && how.from == Type::u32
               ? &unary<float, uint32_t, IntegerToInteger>
               : nullptr;
  if (how.to == how.from) // NaNs that are not quiet stay so
    return how.to == Type::f64   ? &unary<uint64_t, uint64_t, Same>
           : how.to == Type::f32 ? &unary<uint32_t, uint32_t, Same>
                                 : nullptr;
  if (how.to == Type::f32 && isSmall(how.from))
    return how.from == Type::f16 ? &unary<float, F16, Widen>
                                 : &unary<float, Bf16, Widen>;
  if (how.from == Type::f32 && isSmall(how.to))
    return how.to == Type::f16 ? &unary<F16, float, ToF16>
                               : &unary<Bf16, float, ToBf16>;
  return nullptr;
}

template <class To> bool toUsualPair(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.slots<uint32_t>(i.from[0]);
  const uint32_t *b = warp.slots<uint32_t>(i.from[1]);
  eachLane<uint32_t>(warp, i.to[0], [&](int l) {
    uint32_t high = To()(fromSlot<float>(a[l])).bits;
    return high << 16 | To()(fromSlot<float>(b[l])).bits;
  });
  return true;
}

/// What the text says, before it is checked.
struct Modifiers {
  std::optional<size_t> whole, rounding;
  bool flush, relu, finite, saturate;
};

Modifiers takeModifiers(Builder &b) {
  Modifiers made;
  made.whole = b.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  if (!made.whole)
    made.rounding = b.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  made.flush = b.take("ftz");
  if (made.flush)
    b.flushesToZero();
  made.relu = b.take("relu");
  made.finite = b.take("satfinite");
  made.relu |= b.take("relu");
  made.saturate = b.take("sat");
  return made;
}

constexpr std::initializer_list<Type> kTypes = {
    Type::u8,  Type::u16, Type::u32,   Type::u64,    Type::s8,
    Type::s16, Type::s32, Type::s64,   Type::f16,    Type::bf16,
    Type::f32, Type::f64, Type::f16x2, Type::bf16x2, Type::tf32};

/// Bits of a fraction: a conversion to fewer is rounded.
int fractionOf(Type type) {
  return type == Type::f64    ? 52
         : type == Type::f32  ? 23
         : type == Type::bf16 ? 7
                              : 10;
}

/// Whether every value of one integer type is one of another.
bool holdsAll(Type to, Type from) {
  if (isFloat(to) || isFloat(from))
    return false;
  if (isSigned(from) && !isSigned(to))
    return false;
  bool wider = bytesOf(to) > bytesOf(from);
  return wider ||
         (bytesOf(to) == bytesOf(from) && isSigned(to) == isSigned(from));
}

/// Empty: ptxas takes it.
std::string unfit(const Modifiers &m, Type to, Type from) {
  bool floats = isFloat(to) && isFloat(from);
  bool narrows = floats && fractionOf(to) < fractionOf(from);
  // Between the small ones, and from bf16, a rounding may be there or not.
  bool between = isSmall(to) && isSmall(from) && to != from;
  narrows = narrows && !between;
  bool mayRound = between || (from == Type::bf16 && isWideFloat(to));
  bool mustRound = narrows || (isFloat(to) && !isFloat(from));
  bool mustBeWhole = !isFloat(to) && isFloat(from);
  if (mustRound && !m.rounding)
    return "expected a rounding, as .rn";
  if (mustBeWhole && !m.whole)
    return "expected a rounding to integers, as .rzi";
  if (m.rounding && !mustRound && !mayRound)
    return "a rounding of what is exact";
  if (m.whole && !mustBeWhole && !(floats && to == from))
    return "a rounding to integers of what is none";
  if (m.rounding == 4)
    return ".rna is of .tf32";
  if (m.flush && to != Type::f32 && from != Type::f32)
    return ".ftz is of .f32";
  bool brain = to == Type::bf16 || from == Type::bf16;
  if (brain && (bytesOf(to) == 1 || bytesOf(from) == 1))
    return "bf16 is converted to and from no integer of 8 bits";
  if (m.saturate && (brain || holdsAll(to, from)))
    return "there is nothing to saturate";
  bool small = isSmall(to) && from == Type::f32;
  if ((m.relu || m.finite) && !(small && *m.rounding <= 1))
    return ".relu and .satfinite are of .f32 to .f16 or .bf16";
  return {};
}

void needsOf(Builder &b, const Modifiers &m, Type to, Type from) {
  bool brain = to == Type::bf16 || from == Type::bf16;
  bool plain = to == Type::bf16 && from == Type::f32;
  if (brain)
    b.needs(plain ? 80 : 90, plain ? 70 : 78);
  if (m.relu)
    b.needs(80, 70);
  if (m.finite)
    b.needs(80, 81);
}

void decodePair(Builder &b, const Modifiers &m, Type to) {
  b.expectType({Type::f32});
  b.needs(80, 70);
  if (!m.rounding || *m.rounding > 1 || m.flush || m.saturate || m.whole)
    b.problem("cvt: a pair is made by .rn or .rz");
  if (m.finite)
    b.needs(80, 81);
  Conversion how;
  how.to = to == Type::f16x2 ? Type::f16 : Type::bf16;
  how.from = Type::f32;
  how.rounding = Rounding(m.rounding.value_or(0));
  how.relu = m.relu;
  how.finite = m.finite;
  b.out.immediate = packed(how);
  bool plain = how.rounding == Rounding::nearest && !how.relu && !how.finite;
  b.out.run = !plain                 ? toPair
              : how.to == Type::bf16 ? toUsualPair<ToBf16>
                                     : toUsualPair<ToF16>;
  b.endModifiers();
  b.to(to);
  b.from(Type::f32);
  b.from(Type::f32);
  b.endOperands();
}

void decodeTf32(Builder &b, const Modifiers &m) {
  b.expectType({Type::f32});
  bool away = m.rounding == 4;
  if (!m.rounding || (*m.rounding > 1 && !away) || m.flush || m.saturate ||
      (away && m.relu))
    b.problem("cvt: .tf32 is made by .rna, .rn or .rz");
  b.needs(away ? 80 : 90, away ? 70 : 78);
  if (m.finite)
    b.needs(away ? 80 : 100, 81);
  Conversion how;
  how.to = Type::tf32;
  how.from = Type::f32;
  how.rounding = away ? Rounding::away : Rounding(m.rounding.value_or(0));
  how.relu = m.relu;
  how.finite = m.finite;
  b.out.immediate = packed(how);
  b.out.run = anyTypes;
  b.endModifiers();
  b.to(Type::u32); // an .f32 register takes none
  b.from(Type::f32);
  b.endOperands();
}

} // namespace

void decodeCvt(Builder &b) {
  if (b.comes("pack"))
    return b.problem("cvt.pack is not known here");
  Modifiers m = takeModifiers(b);
  Type to = b.expectType(kTypes);
  if (to == Type::f16x2 || to == Type::bf16x2)
    return decodePair(b, m, to);
  if (to == Type::tf32)
    return decodeTf32(b, m);
  Type from = b.expectType(kTypes);
  if (b.failed())
    return;
  std::string problem = unfit(m, to, from);
  if (bytesOf(from) == 4 && isFloat(from) && from != Type::f32)
    problem = "a pair of floats, or a .tf32, is converted to nothing";
  if (!problem.empty())
    return b.problem("cvt: " + problem);
  needsOf(b, m, to, from);
  Conversion how;
  how.to = to;
  how.from = from;
  how.rounding = Rounding(m.whole ? *m.whole : m.rounding.value_or(0));
  how.integral = m.whole.has_value();
  how.flush = m.flush;
  how.saturate = m.saturate;
  how.finite = m.finite;
  how.relu = m.relu;
  b.out.immediate = packed(how);
  b.endModifiers();
  b.toWide(to);
  b.fromWide(from);
  b.endOperands();
  bool natural = (bytesOf(to) == 8) == (slotOfTo(b.out, 0) == 8) &&
                 (bytesOf(from) == 8) == (slotOfFrom(b.out, 0) == 8) &&
                 bytesOf(to) > 1 && bytesOf(from) > 1;
  // A narrow integer in a register of 32 bits is extended.
  bool extends = !isFloat(to) && bytesOf(to) < 4;
  Handler fast =
      isFloat(to) || isFloat(from) ? usual(how) : betweenIntegers(how);
  b.out.run = natural && !extends && fast ? fast : anyTypes;
}

} // namespace mtc::ptx
