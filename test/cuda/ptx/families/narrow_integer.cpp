//===- narrow_integer.cpp - integers of 24 bits, and parts of words -------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"

#include <limits>

namespace mtc::ptx {
namespace {

// The product of the lower 24 bits has 48: its lower or its upper 32.
template <bool High> struct Mul24 {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    uint64_t product = uint64_t(a & 0xffffff) * (b & 0xffffff);
    return uint32_t(High ? product >> 16 : product);
  }
  int32_t operator()(int32_t a, int32_t b) const {
    int64_t product = int64_t(extended(a)) * extended(b);
    return int32_t(High ? product >> 16 : product);
  }
  static int32_t extended(int32_t a) { return int32_t(uint32_t(a) << 8) >> 8; }
};

template <bool High> struct Mad24 {
  template <class T> T operator()(T a, T b, T c) const {
    return T(uint32_t(Mul24<High>()(a, b)) + uint32_t(c));
  }
};

struct Mad24Saturated {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    int64_t sum = int64_t(Mul24<true>()(a, b)) + c;
    return int32_t(std::min<int64_t>(
        std::max<int64_t>(sum, std::numeric_limits<int32_t>::min()),
        std::numeric_limits<int32_t>::max()));
  }
};

template <class T> int64_t byteOf(T word, int k) {
  auto byte = uint8_t(uint32_t(word) >> (8 * k));
  return std::is_signed_v<T> ? int64_t(int8_t(byte)) : int64_t(byte);
}
template <class T> int64_t halfOf(T word, int k) {
  auto half = uint16_t(uint32_t(word) >> (16 * k));
  return std::is_signed_v<T> ? int64_t(int16_t(half)) : int64_t(half);
}

struct Dp4a {
  template <class A, class B> uint32_t operator()(A a, B b, uint32_t c) const {
    int64_t sum = 0;
    for (int k = 0; k < 4; ++k)
      sum += byteOf(a, k) * byteOf(b, k);
    return c + uint32_t(sum);
  }
};
template <bool High> struct Dp2a {
  template <class A, class B> uint32_t operator()(A a, B b, uint32_t c) const {
    int64_t sum = 0;
    for (int k = 0; k < 2; ++k)
      sum += halfOf(a, k) * byteOf(b, k + 2 * High);
    return c + uint32_t(sum);
  }
};

template <class F> void dot(Builder &b) {
  Type left = b.expectType({Type::u32, Type::s32});
  Type right = b.expectType({Type::u32, Type::s32});
  b.endModifiers();
  bool leftSigned = isSigned(left), rightSigned = isSigned(right);
  b.out.run =
      leftSigned    ? rightSigned
                          ? &ternary<uint32_t, int32_t, int32_t, uint32_t, F>
                          : &ternary<uint32_t, int32_t, uint32_t, uint32_t, F>
         : rightSigned ? &ternary<uint32_t, uint32_t, int32_t, uint32_t, F>
                    : &ternary<uint32_t, uint32_t, uint32_t, uint32_t, F>;
  b.to(Type::b32);
  b.from(left);
  b.from(right);
  b.from(Type::b32);
  b.endOperands();
}

// Pairs of 16 bits in a register of 32.
struct Add16 {
  template <class T> T operator()(T a, T b) const { return T(a + b); }
};
struct Min16 {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max16 {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T, class F, bool Relu> struct Paired {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    uint32_t made = 0;
    for (int k = 0; k < 32; k += 16) {
      T one = F()(T(a >> k), T(b >> k));
      if (Relu && one < 0)
        one = 0;
      made |= uint32_t(uint16_t(one)) << k;
    }
    return made;
  }
};

template <class T, class F, bool Relu = false> Handler paired() {
  return &binary<uint32_t, uint32_t, uint32_t, Paired<T, F, Relu>>;
}

} // namespace

bool pairedInteger(Builder &b) {
  const std::string &opcode = b.statement().opcode;
  const auto &modifiers = b.statement().modifiers;
  if (modifiers.empty() ||
      (modifiers.back() != "u16x2" && modifiers.back() != "s16x2"))
    return false;
  bool relu = opcode != "add" && b.take("relu");
  bool isSigned = b.take("s16x2");
  if (!isSigned && !b.take("u16x2"))
    b.endModifiers(); // tells what stands in the way
  b.needs(90, 80);
  if (relu && isSigned)
    b.out.run = opcode == "min" ? paired<int16_t, Min16, true>()
                                : paired<int16_t, Max16, true>();
  else if (!relu && opcode == "add")
    b.out.run = paired<uint16_t, Add16>();
  else if (!relu && opcode == "min")
    b.out.run = isSigned ? paired<int16_t, Min16>() : paired<uint16_t, Min16>();
  else if (!relu && opcode == "max")
    b.out.run = isSigned ? paired<int16_t, Max16>() : paired<uint16_t, Max16>();
  b.plain(Type::b32, 2);
  return true;
}

void decodeMul24(Builder &b) {
  bool high = b.expectOneOf({"lo", "hi"});
  Type type = b.expectType({Type::u32, Type::s32});
  if (isSigned(type))
    b.out.run = high ? &binary<int32_t, int32_t, int32_t, Mul24<true>>
                     : &binary<int32_t, int32_t, int32_t, Mul24<false>>;
  else
    b.out.run = high ? &binary<uint32_t, uint32_t, uint32_t, Mul24<true>>
                     : &binary<uint32_t, uint32_t, uint32_t, Mul24<false>>;
  b.plain(type, 2);
}

void decodeMad24(Builder &b) {
  bool high = b.expectOneOf({"lo", "hi"});
  if (high && b.take("sat")) {
    b.out.run = ternary<int32_t, int32_t, int32_t, int32_t, Mad24Saturated>;
    return b.plain(b.expectType({Type::s32}), 3);
  }
  Type type = b.expectType({Type::u32, Type::s32});
  if (isSigned(type))
    b.out.run =
        high ? &ternary<int32_t, int32_t, int32_t, int32_t, Mad24<true>>
             : &ternary<int32_t, int32_t, int32_t, int32_t, Mad24<false>>;
  else
    b.out.run =
        high ? &ternary<uint32_t, uint32_t, uint32_t, uint32_t, Mad24<true>>
             : &ternary<uint32_t, uint32_t, uint32_t, uint32_t, Mad24<false>>;
  b.plain(type, 3);
}

void decodeDp4a(Builder &b) { dot<Dp4a>(b); }

void decodeDp2a(Builder &b) {
  if (b.expectOneOf({"lo", "hi"}))
    dot<Dp2a<true>>(b);
  else
    dot<Dp2a<false>>(b);
}

} // namespace mtc::ptx
