//===- values.cpp - test data and the sequential reference ----------------===//

#include "values.h"

#include "test/unit/half.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace mtc::test {
namespace {

__extension__ typedef __int128 Wide;

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t bitsOf(int rank, int64_t index, uint64_t salt) {
  return mix(uint64_t(index) * 64 + uint64_t(rank) + (salt << 40));
}

/// 24 random bits, a sign, and a power of two of 0 to 15; all exact. For f16 in
/// a range where sums of a few stay finite.
float floatOf(MtcDtype dtype, uint64_t bits) {
  float magnitude = float(bits & 0xffffff) * float(1 << ((bits >> 24) & 15));
  if (dtype == MTC_F16)
    magnitude *= 0x1p-28f;
  // Of random bits no processor guesses a branch.
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) |
                              uint32_t(bits >> 28 & 1) << 31);
}

Wide wideOf(uint64_t bits) {
  Wide high = Wide(int64_t(mix(bits)) >> 4);
  return high * (Wide(1) << 64) + Wide(bits);
}

float reduceFloats(MtcReduce op, float a, float b) {
  return op == MTC_SUM ? a + b : std::fmax(a, b);
}

} // namespace

int64_t widthOf(MtcDtype dtype) {
  return isHalf(dtype) ? 2 : dtype == MTC_I128 ? 16 : 4;
}

const char *nameOf(MtcDtype dtype) {
  const char *names[] = {"f32", "bf16", "i32", "i128", "f16"};
  return names[dtype];
}

namespace {

/// Element `index` of `rank`, as what the type's elements are in memory.
template <MtcDtype D>
using Element = std::conditional_t<
    D == MTC_I128, Wide,
    std::conditional_t<D == MTC_I32, uint32_t,
                       std::conditional_t<D == MTC_F32, float, uint16_t>>>;

template <MtcDtype D>
Element<D> elementOf(int rank, int64_t index, uint64_t salt) {
  uint64_t bits = bitsOf(rank, index, salt);
  if constexpr (D == MTC_I32)
    return uint32_t(bits);
  else if constexpr (D == MTC_I128)
    return wideOf(bits);
  else if constexpr (D == MTC_F32)
    return floatOf(D, bits);
  else
    return nearestHalf(D, floatOf(D, bits));
}

template <MtcDtype D>
Element<D> reduced(MtcReduce op, std::span<const int> ranks, int64_t index,
                   uint64_t salt) {
  if constexpr (D == MTC_I128) {
    Wide sum = 0;
    for (int rank : ranks)
      sum += elementOf<D>(rank, index, salt);
    return sum;
  } else {
    float sum = 0;
    for (size_t m = 0; m < ranks.size(); ++m) {
      float value = floatOf(D, bitsOf(ranks[m], index, salt));
      if constexpr (isHalf(D))
        value = halfValue(D, nearestHalf(D, value));
      sum = m == 0 ? value : reduceFloats(op, sum, value);
    }
    if constexpr (isHalf(D))
      return nearestHalf(D, sum);
    else // 32 bits, of i32 as well, which nobody adds
      return std::bit_cast<Element<D>>(sum);
  }
}

/// Calls f.operator()<D>() of the type: what is asked once is not asked of each
/// of many millions of elements.
template <class F> auto ofType(MtcDtype dtype, F f) {
  switch (dtype) {
  case MTC_F16:
    return f.template operator()<MTC_F16>();
  case MTC_BF16:
    return f.template operator()<MTC_BF16>();
  case MTC_I32:
    return f.template operator()<MTC_I32>();
  case MTC_I128:
    return f.template operator()<MTC_I128>();
  default:
    return f.template operator()<MTC_F32>();
  }
}

/// The first of `count` elements of a buffer whose bits are not those of
/// expected(i); `count`: there is none.
template <class T, class F>
int64_t firstOther(const char *buffer, int64_t count, F expected) {
  for (int64_t i = 0; i < count; ++i) {
    T value = expected(i);
    if (std::memcmp(&value, buffer + i * int64_t(sizeof(T)), sizeof(T)) != 0)
      return i;
  }
  return count;
}

} // namespace

void putValue(MtcDtype dtype, int rank, int64_t index, uint64_t salt,
              char *out) {
  fill(dtype, rank, index, 1, salt, out);
}

void fill(MtcDtype dtype, int rank, int64_t first, int64_t count, uint64_t salt,
          char *buffer) {
  ofType(dtype, [&]<MtcDtype D>() {
    for (int64_t i = 0; i < count; ++i) {
      Element<D> value = elementOf<D>(rank, first + i, salt);
      std::memcpy(buffer + i * int64_t(sizeof value), &value, sizeof value);
    }
  });
}

void putReduced(MtcReduce op, MtcDtype dtype, std::span<const int> ranks,
                int64_t index, uint64_t salt, char *out) {
  ofType(dtype, [&]<MtcDtype D>() {
    Element<D> value = reduced<D>(op, ranks, index, salt);
    std::memcpy(out, &value, sizeof value);
  });
}

static std::string difference(const char *what, MtcDtype dtype, int64_t index) {
  return std::string(what) + " " + nameOf(dtype) + " element " +
         std::to_string(index) + " differs from the reference";
}

std::string checkReduced(MtcReduce op, MtcDtype dtype,
                         std::span<const int> ranks, int64_t first,
                         int64_t count, uint64_t salt, const char *buffer) {
  int64_t other = ofType(dtype, [&]<MtcDtype D>() {
    return firstOther<Element<D>>(buffer, count, [&](int64_t i) {
      return reduced<D>(op, ranks, first + i, salt);
    });
  });
  return other == count ? "" : difference("reduced", dtype, first + other);
}

/// An element as what is computed with it.
static double valueOf(MtcDtype dtype, const char *at) {
  uint16_t half = 0;
  float value = 0;
  if (!isHalf(dtype))
    return std::memcpy(&value, at, 4), value;
  std::memcpy(&half, at, 2);
  return halfValue(dtype, half);
}

std::string checkAdded(MtcDtype dtype, std::span<const int> ranks,
                       int64_t first, int64_t count, uint64_t salt,
                       const char *buffer) {
  // Half a unit in the last place; f16 has subnormals, too.
  double unit = dtype == MTC_F32    ? 0x1p-24
                : dtype == MTC_BF16 ? 0x1p-8
                                    : 0x1p-11;
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0, magnitudes = 0;
    for (int rank : ranks) {
      char element[16];
      putValue(dtype, rank, first + i, salt, element);
      sum += valueOf(dtype, element);
      magnitudes += std::abs(valueOf(dtype, element));
    }
    double allowed = double(ranks.size() - 1) * (unit * magnitudes + 0x1p-25);
    double found = valueOf(dtype, buffer + i * widthOf(dtype));
    if (!(std::abs(found - sum) <= allowed))
      return difference("added", dtype, first + i);
  }
  return "";
}

std::string checkCopied(MtcDtype dtype, int rank, int64_t first, int64_t count,
                        uint64_t salt, const char *buffer) {
  int64_t other = ofType(dtype, [&]<MtcDtype D>() {
    return firstOther<Element<D>>(buffer, count, [&](int64_t i) {
      return elementOf<D>(rank, first + i, salt);
    });
  });
  return other == count ? "" : difference("copied", dtype, first + other);
}

} // namespace mtc::test
