//===- values.cpp - test data and the sequential reference ----------------===//

#include "values.h"

#include "test/unit/half.h"

#include <cmath>
#include <cstring>

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
  return (bits >> 28) & 1 ? -magnitude : magnitude;
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

void putValue(MtcDtype dtype, int rank, int64_t index, uint64_t salt,
              char *out) {
  uint64_t bits = bitsOf(rank, index, salt);
  if (dtype == MTC_I32) {
    std::memcpy(out, &bits, 4);
  } else if (dtype == MTC_I128) {
    Wide wide = wideOf(bits);
    std::memcpy(out, &wide, 16);
  } else if (isHalf(dtype)) {
    uint16_t half = nearestHalf(dtype, floatOf(dtype, bits));
    std::memcpy(out, &half, 2);
  } else {
    float value = floatOf(dtype, bits);
    std::memcpy(out, &value, 4);
  }
}

void fill(MtcDtype dtype, int rank, int64_t first, int64_t count, uint64_t salt,
          char *buffer) {
  for (int64_t i = 0; i < count; ++i)
    putValue(dtype, rank, first + i, salt, buffer + i * widthOf(dtype));
}

static void putWideSum(std::span<const int> ranks, int64_t index, uint64_t salt,
                       char *out) {
  Wide sum = 0;
  for (int rank : ranks)
    sum += wideOf(bitsOf(rank, index, salt));
  std::memcpy(out, &sum, 16);
}

void putReduced(MtcReduce op, MtcDtype dtype, std::span<const int> ranks,
                int64_t index, uint64_t salt, char *out) {
  if (dtype == MTC_I128)
    return putWideSum(ranks, index, salt, out);
  float sum = 0;
  for (size_t m = 0; m < ranks.size(); ++m) {
    float value = floatOf(dtype, bitsOf(ranks[m], index, salt));
    if (isHalf(dtype))
      value = halfValue(dtype, nearestHalf(dtype, value));
    sum = m == 0 ? value : reduceFloats(op, sum, value);
  }
  uint16_t half = isHalf(dtype) ? nearestHalf(dtype, sum) : uint16_t(0);
  if (isHalf(dtype))
    std::memcpy(out, &half, 2);
  else
    std::memcpy(out, &sum, 4);
}

static std::string difference(const char *what, MtcDtype dtype, int64_t index) {
  return std::string(what) + " " + nameOf(dtype) + " element " +
         std::to_string(index) + " differs from the reference";
}

std::string checkReduced(MtcReduce op, MtcDtype dtype,
                         std::span<const int> ranks, int64_t first,
                         int64_t count, uint64_t salt, const char *buffer) {
  char expected[16];
  for (int64_t i = 0; i < count; ++i) {
    putReduced(op, dtype, ranks, first + i, salt, expected);
    if (std::memcmp(expected, buffer + i * widthOf(dtype), widthOf(dtype)) != 0)
      return difference("reduced", dtype, first + i);
  }
  return "";
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
  char expected[16];
  for (int64_t i = 0; i < count; ++i) {
    putValue(dtype, rank, first + i, salt, expected);
    if (std::memcmp(expected, buffer + i * widthOf(dtype), widthOf(dtype)) != 0)
      return difference("copied", dtype, first + i);
  }
  return "";
}

} // namespace mtc::test
