//===- bit_fields.cpp - counts, and parts of words ------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"

namespace mtc::ptx {
namespace {

/// Of a place or length only 8 bits count, the ISA says; of those of 64-bit
/// fields an H100 takes all 32, which shows only beyond the word.
template <class T> uint32_t fieldNumber(uint32_t n) {
  return sizeof(T) == 8 ? std::min(n, 255u) : n & 255;
}

constexpr std::initializer_list<Type> kBits = {Type::b32, Type::b64};
constexpr std::initializer_list<Type> kWords = {Type::u32, Type::u64, Type::s32,
                                                Type::s64};

struct Popc {
  template <class T> uint32_t operator()(T a) const {
    return uint32_t(__builtin_popcountll(a));
  }
};
struct Clz {
  template <class T> uint32_t operator()(T a) const {
    constexpr int kWidth = 8 * sizeof(T);
    return a ? uint32_t(__builtin_clzll(a) - (64 - kWidth)) : kWidth;
  }
};
struct Brev {
  template <class T> T operator()(T a) const {
    T made = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); ++k)
      made |= T((a >> k) & 1) << (8 * sizeof(T) - 1 - k);
    return made;
  }
};

/// The highest bit that is no copy of the sign; ~0: there is none.
template <bool Amount> struct Bfind {
  template <class T> uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    U bits = std::is_signed_v<T> && a < 0 ? U(~U(a)) : U(a);
    if (!bits)
      return ~0u;
    auto at = uint32_t(63 - __builtin_clzll(uint64_t(bits)));
    return Amount ? uint32_t(8 * sizeof(T) - 1) - at : at;
  }
};

/// The place of the n-th set bit from `base` on, up or down; ~0: there is none.
struct Fns {
  uint32_t operator()(uint32_t mask, uint32_t base, int32_t n) const {
    int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
    if (base > 31)
      return ~0u;
    if (n == 0)
      return mask >> base & 1 ? base : ~0u;
    for (int at = int(base); at >= 0 && at < 32; at += step)
      if ((mask >> at & 1) && --left == 0)
        return uint32_t(at);
    return ~0u;
  }
};

template <class T> T extracted(T value, uint32_t place, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kWidth = 8 * sizeof(T);
  place = fieldNumber<T>(place);
  length = fieldNumber<T>(length);
  if (length == 0)
    return 0;
  U bits = place < kWidth ? U(value) >> place : 0;
  uint32_t top = std::min(place + length - 1, kWidth - 1);
  bool sign = std::is_signed_v<T> && (U(value) >> top & 1);
  if (length >= kWidth && place == 0)
    return T(bits);
  // Bits above the field, or above the word, are the sign.
  uint32_t have = std::min(length, place < kWidth ? kWidth - place : 0);
  U kept = have >= kWidth ? ~U(0) : (U(1) << have) - 1;
  return T((bits & kept) | (sign ? ~kept : 0));
}

struct Bfe {
  template <class T> T operator()(T a, uint32_t place, uint32_t length) const {
    return extracted(a, place, length);
  }
};
struct Bfi {
  template <class T>
  T operator()(T from, T into, uint32_t place, uint32_t length) const {
    constexpr uint32_t kWidth = 8 * sizeof(T);
    place = fieldNumber<T>(place);
    length = fieldNumber<T>(length);
    if (length == 0 || place >= kWidth)
      return into;
    T field = length >= kWidth ? ~T(0) : (T(1) << length) - 1;
    field <<= place;
    return (into & ~field) | ((from << place) & field);
  }
};

template <bool Clamp> uint32_t bounded(uint32_t n) {
  return Clamp ? std::min(n, 32u) : n & 31;
}
/// `length` ones from `place` on.
template <bool Clamp> struct Bmsk {
  uint32_t operator()(uint32_t place, uint32_t length) const {
    place = bounded<Clamp>(place);
    length = bounded<Clamp>(length);
    return uint32_t(((uint64_t(1) << length) - 1) << place);
  }
};
/// The lower `length` bits, with the sign or zeros above them.
template <bool Clamp> struct Szext {
  template <class T> T operator()(T a, uint32_t length) const {
    length = bounded<Clamp>(length);
    if (length == 0)
      return 0;
    if (length >= 32)
      return a;
    return T(T(uint32_t(a) << (32 - length)) >> (32 - length));
  }
};
template <bool Clamp, bool Right> struct Shf {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t n) const {
    uint64_t both = uint64_t(high) << 32 | low;
    n = bounded<Clamp>(n);
    return uint32_t(Right ? both >> n : (both << n) >> 32);
  }
};

/// Each nibble of the selector names a byte of the 8, bit 3 asks for its sign.
struct Prmt {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t selector) const {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t made = 0;
    for (int k = 0; k < 4; ++k) {
      uint32_t which = selector >> (4 * k) & 15;
      auto byte = uint8_t(bytes >> (8 * (which & 7)));
      if (which & 8)
        byte = byte & 128 ? 255 : 0;
      made |= uint32_t(byte) << (8 * k);
    }
    return made;
  }
};

/// Selectors of the modes f4e, b4e, rc8, ecl, ecr, rc16, by the lower two bits.
constexpr uint16_t kModes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
    {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
    {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
template <int Mode> struct PrmtMode {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t selector) const {
    return Prmt()(a, b, kModes[Mode][selector & 3]);
  }
};

template <class F> void counted(Builder &b, std::initializer_list<Type> types) {
  Type type = b.expectType(types);
  b.out.run = byInteger(
      type, [](auto t) -> Handler { return &unary<uint32_t, decltype(t), F>; });
  b.endModifiers();
  b.to(Type::u32);
  b.from(type);
  b.endOperands();
}

void threeWords(Builder &b, Handler handler) {
  b.out.run = handler;
  b.plain(b.expectType({Type::b32}), 3);
}

} // namespace

void decodePopc(Builder &b) { counted<Popc>(b, kBits); }
void decodeClz(Builder &b) { counted<Clz>(b, kBits); }

void decodeBrev(Builder &b) {
  Type type = b.expectType(kBits);
  b.out.run = bytesOf(type) == 4 ? &unary<uint32_t, uint32_t, Brev>
                                 : &unary<uint64_t, uint64_t, Brev>;
  b.plain(type, 1);
}

void decodeBfind(Builder &b) {
  if (b.take("shiftamt"))
    counted<Bfind<true>>(b, kWords);
  else
    counted<Bfind<false>>(b, kWords);
}

void decodeFns(Builder &b) {
  threeWords(b, ternary<uint32_t, uint32_t, uint32_t, int32_t, Fns>);
}

void decodeBfe(Builder &b) {
  Type type = b.expectType(kWords);
  b.out.run = byInteger(type, [](auto t) -> Handler {
    using T = decltype(t);
    return &ternary<T, T, uint32_t, uint32_t, Bfe>;
  });
  b.endModifiers();
  b.to(type);
  b.from(type);
  b.from(Type::u32);
  b.from(Type::u32);
  b.endOperands();
}

void decodeBfi(Builder &b) {
  Type type = b.expectType(kBits);
  b.out.run = bytesOf(type) == 4
                  ? &quaternary<uint32_t, uint32_t, uint32_t, Bfi>
                  : &quaternary<uint64_t, uint64_t, uint32_t, Bfi>;
  b.endModifiers();
  b.to(type);
  b.from(type);
  b.from(type);
  b.from(Type::u32);
  b.from(Type::u32);
  b.endOperands();
}

void decodeBmsk(Builder &b) {
  b.needs(70, 76);
  bool wraps = b.expectOneOf({"clamp", "wrap"});
  b.out.run = wraps ? &binary<uint32_t, uint32_t, uint32_t, Bmsk<false>>
                    : &binary<uint32_t, uint32_t, uint32_t, Bmsk<true>>;
  b.plain(b.expectType({Type::b32}), 2);
}

void decodeSzext(Builder &b) {
  b.needs(70, 76);
  bool wraps = b.expectOneOf({"clamp", "wrap"});
  Type type = b.expectType({Type::u32, Type::s32});
  if (isSigned(type))
    b.out.run = wraps ? &binary<int32_t, int32_t, uint32_t, Szext<false>>
                      : &binary<int32_t, int32_t, uint32_t, Szext<true>>;
  else
    b.out.run = wraps ? &binary<uint32_t, uint32_t, uint32_t, Szext<false>>
                      : &binary<uint32_t, uint32_t, uint32_t, Szext<true>>;
  b.plain(type, 2);
}

void decodeShf(Builder &b) {
  bool right = b.expectOneOf({"l", "r"});
  bool wraps = b.expectOneOf({"clamp", "wrap"});
  using U = uint32_t;
  threeWords(b, right   ? wraps ? &ternary<U, U, U, U, Shf<false, true>>
                                : &ternary<U, U, U, U, Shf<true, true>>
                  : wraps ? &ternary<U, U, U, U, Shf<false, false>>
                        : &ternary<U, U, U, U, Shf<true, false>>);
}

void decodePrmt(Builder &b) {
  using U = uint32_t;
  constexpr Handler kHandlers[] = {
      &ternary<U, U, U, U, PrmtMode<0>>, &ternary<U, U, U, U, PrmtMode<1>>,
      &ternary<U, U, U, U, PrmtMode<2>>, &ternary<U, U, U, U, PrmtMode<3>>,
      &ternary<U, U, U, U, PrmtMode<4>>, &ternary<U, U, U, U, PrmtMode<5>>};
  b.expectType({Type::b32});
  auto mode = b.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  b.out.run = mode ? kHandlers[*mode] : &ternary<U, U, U, U, Prmt>;
  b.plain(Type::b32, 3);
}

} // namespace mtc::ptx
