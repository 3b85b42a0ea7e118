//===- matrix.cpp - mma.sync ----------------------------------------------===//
//
// D = A·B + C of fragments: each lane has some elements of each matrix. With g
// = lane / 4 and t = lane % 4, a register of e elements of A has row g (+ 8 in
// every second register) and columns e·t, ... (+ 4e in the next two).
//
// How products are added is machine/tensor_core.h.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/machine/floats.h"
#include "test/cuda/ptx/machine/rounding.h"
#include "test/cuda/ptx/machine/tensor_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mtc::ptx {
namespace {

constexpr int kRows = 16, kColumns = 8;

template <Type Of> float valueOf(uint32_t word, unsigned k) {
  if constexpr (Of == Type::f16)
    return widened(F16{uint16_t(word >> (16 * k))});
  else if constexpr (Of == Type::bf16)
    return widened(Bf16{uint16_t(word >> (16 * k))});
  else if constexpr (Of == Type::s8)
    return int8_t(word >> (8 * k));
  else if constexpr (Of == Type::u8)
    return uint8_t(word >> (8 * k));
  else // the lower 13 bits of a tf32 are not looked at
    return __builtin_bit_cast(float, word & 0xffffe000);
}

constexpr unsigned perRegister(Type type) {
  return type == Type::tf32                        ? 1
         : type == Type::f16 || type == Type::bf16 ? 2
                                                   : 4;
}

template <int Depth> struct Product {
  Row<Depth> a[kRows];
  Terms b[Depth], c[kRows];
  double made[kRows][kColumns];
};
static_assert(kColumns == kSums);

/// The elements of a register, lane after lane: of a matrix 4 * e in a row.
template <Type Of>
void unpack(const uint32_t *words, float (&to)[kLanes * perRegister(Of)]) {
  constexpr unsigned e = perRegister(Of);
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned k = 0; k < e; ++k)
      to[e * l + k] = valueOf<Of>(words[l], k);
}

template <Type A, Type B, int Depth>
void gather(Warp &warp, const Instruction &i, Product<Depth> &p) {
  constexpr unsigned e = perRegister(A), kA = Depth / (2 * e);
  constexpr unsigned kB = kA > 1 ? kA / 2 : 1, kGroups = kLanes / 4;
  for (unsigned r = 0; r < kA; ++r) {
    float values[kLanes * e];
    unpack<A>(warp.slots<uint32_t>(i.from[r]), values);
    constexpr unsigned kWhole = std::min(4 * e, unsigned(kSums));
    for (unsigned g = 0; g < kGroups; ++g)
      for (unsigned k = 0; k < 4 * e; k += kWhole) {
        unsigned column = 4 * e * (r >> 1) + k;
        std::memcpy(p.a[g + 8 * (r & 1)].values(int(column / kSums)) +
                        column % kSums,
                    values + 4 * e * g + k, kWhole * sizeof(float));
      }
  }
  for (unsigned r = 0; r < kB; ++r) {
    float values[kLanes * e];
    unpack<B>(warp.slots<uint32_t>(i.from[kA + r]), values);
    for (unsigned k = 0; k < 4 * e; ++k)
      for (unsigned g = 0; g < kGroups; ++g)
        p.b[4 * e * r + k].values[g] = values[4 * e * g + k];
  }
}

/// Elements of C or D, by row: of two registers of f32 or one of f16.
template <class T> T *pairOf(T (&values)[2 * kLanes], unsigned row) {
  return values + row % 8 * kColumns;
}

/// The addend; i.flag: it is of f16.
template <int Depth>
void gatherSums(Warp &warp, const Instruction &i, unsigned first,
                Product<Depth> &p) {
  for (unsigned half = 0; half < 2; ++half) {
    float values[2 * kLanes];
    if (i.flag)
      unpack<Type::f16>(warp.slots<uint32_t>(i.from[first + half]), values);
    for (unsigned r = 0; !i.flag && r < 2; ++r) {
      const auto *words = warp.slots<float>(i.from[first + 2 * half + r]);
      for (unsigned l = 0; l < kLanes; ++l)
        values[2 * l + r] = words[l];
    }
    for (unsigned row = 8 * half; row < 8 * half + 8; ++row)
      std::memcpy(&p.c[row].values, pairOf(values, row), sizeof(FloatSums));
  }
}

/// Integers are exact in double.
template <int Depth>
void multiplyIntegers(Warp &warp, const Instruction &i, unsigned first,
                      Product<Depth> &p) {
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned r = 0; r < 4; ++r)
      p.made[l / 4 + 8 * (r >> 1)][2 * (l % 4) + (r & 1)] =
          int32_t(warp.slots<uint32_t>(i.from[first + r])[l]);
  for (int r = 0; r < kRows; ++r)
    for (int k = 0; k < Depth; ++k)
      for (int c = 0; c < kColumns; ++c)
        p.made[r][c] += double(p.a[r].value(k)) * double(p.b[k].values[c]);
}

/// Sets all exponents; false: a number is none that is finite. `half`: C is of
/// f16.
template <int Depth>
bool setAllExponents(Product<Depth> &p, int least, bool half) {
  bool finite = true;
  for (Terms &each : p.b)
    finite &= setExponents(each, least);
  for (Terms &each : p.c)
    finite &= setExponents(each, half ? -14 : -126);
  for (Row<Depth> &row : p.a)
    for (Terms &each : row.parts)
      finite &= setExponents(each, least);
  return finite;
}

template <Type Of, int Depth> void multiply(Product<Depth> &p, bool half) {
  constexpr int kLeast = Of == Type::f16 ? -14 : -126;
  bool finite = setAllExponents(p, kLeast, half);
  for (int r = 0; r < kRows; ++r) {
    addProducts(p.a[r], p.b, p.c[r], p.made[r]);
    if (!finite)
      setNotFinite(p.a[r], p.b, p.c[r], p.made[r]);
  }
}

uint32_t integerBits(double value, bool saturates) {
  if (saturates)
    value = std::min(std::max(value, -0x1p31), 0x1p31 - 1);
  return uint32_t(int64_t(value));
}

/// The bits of D's elements, two registers of them or one of f16.
void bitsOf(const Instruction &i, const double *sums, uint32_t *bits) {
  if (i.variant) {
    for (int c = 0; c < kColumns; ++c)
      bits[c] = integerBits(sums[c], i.immediate);
  } else if (i.flag) {
    for (int c = 0; c < kColumns; ++c) {
      bits[c] = toFormat(sums[c], kF16, Rounding::nearest);
      bits[c] = bits[c] == 0x8000 ? 0 : bits[c]; // zero has no sign
    }
  } else {
    float made[kColumns];
    cutOff(sums, made);
    std::memcpy(bits, made, sizeof made);
  }
}

template <int Depth>
void scatter(Warp &warp, const Instruction &i, const Product<Depth> &p) {
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t bits[2 * kLanes];
    for (unsigned row = 8 * half; row < 8 * half + 8; ++row)
      bitsOf(i, p.made[row], pairOf(bits, row));
    if (i.flag) {
      auto *to = warp.slots<uint32_t>(i.to[half]);
      for (unsigned l = 0; l < kLanes; ++l)
        to[l] = bits[2 * l] | bits[2 * l + 1] << 16;
      continue;
    }
    for (unsigned r = 0; r < 2; ++r) {
      auto *to = warp.slots<uint32_t>(i.to[2 * half + r]);
      for (unsigned l = 0; l < kLanes; ++l)
        to[l] = bits[2 * l + r];
    }
  }
}

template <Type A, Type B, int Depth>
bool multiplyAdd(Warp &warp, const Instruction &i) {
  constexpr unsigned kA = Depth / (2 * perRegister(A));
  constexpr unsigned kSumsAt = kA + (kA > 1 ? kA / 2 : 1);
  Product<Depth> product;
  if constexpr (Depth < kSums)
    for (Row<Depth> &row : product.a)
      row = {};
  gather<A, B, Depth>(warp, i, product);
  if constexpr (A == Type::s8 || A == Type::u8) {
    multiplyIntegers(warp, i, kSumsAt, product);
  } else {
    gatherSums(warp, i, kSumsAt, product);
    multiply<A>(product, i.flag);
  }
  scatter(warp, i, product);
  return true;
}

/// NaNs as those of fma.
double addProduct(double a, double b, double sum) {
  return firstNan(std::fma(a, b, sum), b, sum, a);
}

/// m8n8k4 of f64: one element of A and B, two of C, each in a register.
bool multiplyAddDouble(Warp &warp, const Instruction &i) {
  double a[8][4], b[4][8], made[kLanes][2];
  for (int l = 0; l < kLanes; ++l) {
    a[l / 4][l % 4] = warp.slots<double>(i.from[0])[l];
    b[l % 4][l / 4] = warp.slots<double>(i.from[1])[l];
  }
  for (int l = 0; l < kLanes; ++l)
    for (int r = 0; r < 2; ++r) {
      double sum = warp.slots<double>(i.from[2 + r])[l];
      for (int k = 0; k < 4; ++k)
        sum = addProduct(a[l / 4][k], b[k][2 * (l % 4) + r], sum);
      made[l][r] = sum;
    }
  for (int l = 0; l < kLanes; ++l)
    for (int r = 0; r < 2; ++r)
      warp.slots<double>(i.to[r])[l] = made[l][r];
  return true;
}

enum Shape : size_t { m16n8k4, m16n8k8, m16n8k16, m16n8k32, m8n8k4 };
constexpr uint8_t kDepths[] = {4, 8, 16, 32, 4};

bool fits(Shape shape, Type type) {
  switch (type) {
  case Type::f16:
  case Type::bf16:
    return shape == m16n8k8 || shape == m16n8k16;
  case Type::tf32:
    return shape == m16n8k4 || shape == m16n8k8;
  case Type::s8:
  case Type::u8:
    return shape == m16n8k16 || shape == m16n8k32;
  default:
    return type == Type::f64 && shape == m8n8k4;
  }
}

void operandsOf(Builder &b, Type d, Type a, uint8_t depth) {
  bool f64 = d == Type::f64;
  unsigned aCount = f64 ? 1 : depth / (2 * perRegister(a));
  unsigned bCount = std::max(1u, aCount / 2);
  unsigned dCount = f64 || d == Type::f16 ? 2 : 4;
  Type word = f64 ? Type::f64 : Type::u32; // none of .f32
  Type sums = f64 ? Type::f64 : d == Type::f16 ? Type::u32 : Type::b32;
  b.toVector(sums, dCount, /*sinksAllowed=*/false);
  b.fromVector(word, aCount);
  b.fromVector(word, bCount);
  b.fromVector(sums, dCount);
  b.endOperands();
}

template <Type A> Handler ofBytes(Type b, uint8_t depth) {
  if (b == Type::s8)
    return depth == 16 ? multiplyAdd<A, Type::s8, 16>
                       : multiplyAdd<A, Type::s8, 32>;
  return depth == 16 ? multiplyAdd<A, Type::u8, 16>
                     : multiplyAdd<A, Type::u8, 32>;
}

Handler handlerOf(Type a, Type b, uint8_t depth) {
  bool deep = depth >= 16;
  switch (a) {
  case Type::f64:
    return multiplyAddDouble;
  case Type::f16:
    return deep ? multiplyAdd<Type::f16, Type::f16, 16>
                : multiplyAdd<Type::f16, Type::f16, 8>;
  case Type::bf16:
    return deep ? multiplyAdd<Type::bf16, Type::bf16, 16>
                : multiplyAdd<Type::bf16, Type::bf16, 8>;
  case Type::tf32:
    return depth == 8 ? multiplyAdd<Type::tf32, Type::tf32, 8>
                      : multiplyAdd<Type::tf32, Type::tf32, 4>;
  case Type::s8:
    return ofBytes<Type::s8>(b, depth);
  default:
    return ofBytes<Type::u8>(b, depth);
  }
}

} // namespace

void decodeMma(Builder &b) {
  if (b.expectOneOf({"sync"}) || b.expectOneOf({"aligned"}))
    return;
  auto shape = Shape(
      b.expectOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m8n8k4"}));
  b.expectOneOf({"row"});
  b.expectOneOf({"col"});
  b.out.immediate = b.take("satfinite");
  Type d = b.expectType({Type::f32, Type::f16, Type::s32, Type::f64});
  Type a = b.expectType(
      {Type::f16, Type::bf16, Type::tf32, Type::s8, Type::u8, Type::f64});
  Type right = b.expectType(
      {Type::f16, Type::bf16, Type::tf32, Type::s8, Type::u8, Type::f64});
  Type c = b.expectType({d});
  if (b.failed())
    return;
  bool integers = bytesOf(a) == 1;
  bool sums = integers         ? d == Type::s32
              : a == Type::f64 ? d == Type::f64
              : a == Type::f16 ? d == Type::f32 || d == Type::f16
                               : d == Type::f32;
  bool same = integers ? bytesOf(right) == 1 : right == a;
  if (!fits(shape, a) || !sums || !same || c != d ||
      (b.out.immediate && !integers))
    return b.problem(fmt::format("mma: no such product of .{} and .{} to .{}",
                                 nameOf(a), nameOf(right), nameOf(d)));
  b.needs(80, 70);
  b.endModifiers();
  b.out.gather = Gather::warp;
  operandsOf(b, d, a, kDepths[shape]);
  b.out.variant = integers;
  b.out.flag = d == Type::f16;
  b.out.run = handlerOf(a, right, kDepths[shape]);
}

} // namespace mtc::ptx
