//===- carry.cpp - sums of many words -------------------------------------===//
//
// The carry of a lane is a bit of its warp's. A subtraction keeps it the other
// way round, as machines have it: 1 is no borrow.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/lanes.h"

namespace mtc::ptx {
namespace {

constexpr std::initializer_list<Type> kWords = {Type::u32, Type::s32, Type::u64,
                                                Type::s64};

/// What a chain's instruction is, in Instruction::variant.
enum Bits : uint8_t {
  takesCarry = 1,
  setsCarry = 2,
  subtracts = 4,
  multiplies = 8,
  high = 16
};

template <class T> T product(T a, T b, bool high) {
  if (!high)
    return T(a * b);
  if constexpr (sizeof(T) == 4)
    return T((uint64_t(a) * b) >> 32);
  else
    return T(((unsigned __int128)(a)*b) >> 64);
}

template <class T> T signedHigh(T a, T b) {
  using S = std::make_signed_t<T>;
  if constexpr (sizeof(T) == 4)
    return T((int64_t(S(a)) * S(b)) >> 32);
  else
    return T(((__int128)(S(a)) * S(b)) >> 64);
}

template <class T, bool Signed> bool chain(Warp &warp, const Instruction &i) {
  const T *a = warp.slots<T>(i.from[0]), *b = warp.slots<T>(i.from[1]);
  const T *c = i.variant & multiplies ? warp.slots<T>(i.from[2]) : nullptr;
  T *to = warp.slots<T>(i.to[0]);
  uint32_t carries = 0;
  forLanes(warp.active, [&](int l) {
    T left = a[l], right = b[l];
    if (c) {
      left = Signed && (i.variant & high)
                 ? signedHigh(a[l], b[l])
                 : product(a[l], b[l], i.variant & high);
      right = c[l];
    }
    if (i.variant & subtracts)
      right = ~right;
    unsigned in = i.variant & takesCarry ? warp.carry >> l & 1
                                         : (i.variant & subtracts) != 0;
    unsigned __int128 sum = (unsigned __int128)(left) + right + in;
    to[l] = T(sum);
    carries |= uint32_t(sum >> (8 * sizeof(T)) & 1) << l;
  });
  if (i.variant & setsCarry)
    warp.carry = (warp.carry & ~warp.active) | carries;
  return true;
}

void chained(Builder &b, uint8_t what) {
  Type type = b.expectType(kWords);
  b.out.variant = what;
  if (bytesOf(type) == 4)
    b.out.run = isSigned(type) ? chain<uint32_t, true> : chain<uint32_t, false>;
  else
    b.out.run = isSigned(type) ? chain<uint64_t, true> : chain<uint64_t, false>;
  b.plain(type, what & multiplies ? 3 : 2);
}

} // namespace

void addCarry(Builder &b) { chained(b, setsCarry); }
void subCarry(Builder &b) { chained(b, setsCarry | subtracts); }

/// What follows mad.lo.cc and mad.hi.cc; the part is in out.variant.
void madCarry(Builder &b) {
  chained(b, uint8_t(setsCarry | multiplies | (b.out.variant ? high : 0)));
}

void decodeAddc(Builder &b) {
  chained(b, uint8_t(takesCarry | (b.take("cc") ? setsCarry : 0)));
}

void decodeSubc(Builder &b) {
  chained(b, uint8_t(takesCarry | subtracts | (b.take("cc") ? setsCarry : 0)));
}

void decodeMadc(Builder &b) {
  uint8_t part = b.expectOneOf({"lo", "hi"}) ? high : 0;
  chained(b, uint8_t(takesCarry | multiplies | part |
                     (b.take("cc") ? setsCarry : 0)));
}

} // namespace mtc::ptx
