#include "runtime/kernels/cpu/norm.h"

#include "runtime/base/half.h"
#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/norm_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

namespace mtc::runtime {

// Elements that take longer than it takes to start a thread that sleeps.
static constexpr int64_t kWorthAThread = 64 * kNormChunk;

void poison(NormSum &sum) {
  sum.limb[NormSum::kLimbs - 1] = NormSum::kNotFinite;
}

void addDigit(NormSum &sum, int64_t digit, int position) {
  __int128 wide = __int128{digit} << position % 64;
  int at = position / 64;
  if (at == NormSum::kLimbs - 1) { // which has room for all of it
    sum.limb[at] += wide;
    return;
  }
  sum.limb[at] += static_cast<uint64_t>(wide);
  sum.limb[at + 1] += wide >> 64;
}

void settle(NormSum &sum) {
  if (!sum.finite())
    return;
  __int128 carry = 0;
  for (int i = 0; i < NormSum::kLimbs; ++i) {
    if (__builtin_add_overflow(sum.limb[i], carry, &sum.limb[i]))
      return poison(sum); // no sum of squares, but bytes of somebody else
    if (i == NormSum::kLimbs - 1)
      return;
    carry = sum.limb[i] >> 64;
    sum.limb[i] = static_cast<uint64_t>(sum.limb[i]);
  }
}

/// From the parts of a finite float: g = m·2^e.
static void addSquare(NormSum &sum, float g) {
  uint32_t bits = std::bit_cast<uint32_t>(g) & 0x7fffffffu;
  int exponent = int(bits >> 23);
  int64_t m = (bits & 0x7fffffu) | (exponent ? 0x800000u : 0u);
  int e = std::max(exponent, 1) - 150;
  addDigit(sum, m * m, 2 * e - kNormUnit);
}

/// False if a value is not finite.
static bool addChunk(NormSum &sum, const float *g, int64_t count) {
  if (const KernelTable *table = selectedKernels()) {
    NormDigits digits;
    if (!table->normChunk(g, count, &digits))
      return false;
    for (int i = 0; i < digits.count; ++i)
      addDigit(sum, digits.digit[i], digits.position[i]);
    return true;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(g[i]))
      return false;
    addSquare(sum, g[i]);
  }
  return true;
}

void addSum(NormSum &to, const NormSum &from) {
  if (!to.finite() || !from.finite())
    return poison(to);
  for (int i = 0; i < NormSum::kLimbs; ++i)
    if (__builtin_add_overflow(to.limb[i], from.limb[i], &to.limb[i]))
      return poison(to);
  settle(to);
}

/// Calls add(sum, part) for all parts of [0, count), each thread with a sum of
/// its own. Sums of integers have no order: whoever ends adds his to all.
template <typename Add>
static void onParts(NormSum &sum, int64_t count, int64_t threads, Add add) {
  int64_t workers = threadsFor(threads, count, kWorthAThread);
  if (workers == 1)
    return add(sum, Part{0, count});
  std::mutex adding;
  onTeam(threads, workers, [&](int64_t part, int64_t parts) {
    NormSum mine;
    add(mine, partOf(count, part, parts, kNormChunk));
    std::lock_guard lock(adding);
    addSum(sum, mine);
  });
}

void addFloats(NormSum &sum, const float *g, Part part) {
  for (int64_t at = part.begin; at < part.end && sum.finite(); at += kNormChunk)
    if (!addChunk(sum, g + at, std::min(part.end - at, kNormChunk)))
      poison(sum);
  settle(sum);
}

static void addHalves(NormSum &sum, MtcDtype dtype, const uint16_t *g,
                      Part part) {
  float wide[kNormChunk];
  for (int64_t at = part.begin; at < part.end && sum.finite();
       at += kNormChunk) {
    int64_t count = std::min(part.end - at, kNormChunk);
    for (int64_t i = 0; i < count; ++i)
      wide[i] = widenHalf(dtype, g[at + i]);
    if (!addChunk(sum, wide, count))
      poison(sum);
  }
  settle(sum);
}

void normAccumulate(NormSum &sum, const float *g, int64_t count,
                    int64_t threads) {
  onParts(sum, count, threads,
          [g](NormSum &to, Part part) { addFloats(to, g, part); });
}

void normAccumulateHalf(NormSum &sum, MtcDtype dtype, const uint16_t *g,
                        int64_t count, int64_t threads) {
  onParts(sum, count, threads,
          [=](NormSum &to, Part part) { addHalves(to, dtype, g, part); });
}

void normCheck(NormSum &sum, const float *x, int64_t count, int64_t threads) {
  onParts(sum, count, threads, [x](NormSum &to, Part part) {
    if (!std::all_of(x + part.begin, x + part.end,
                     [](float v) { return std::isfinite(v); }))
      poison(to);
    settle(to);
  });
}

double normValue(const NormSum &given) {
  NormSum sum = given;
  settle(sum);
  if (!sum.finite())
    return std::numeric_limits<double>::infinity();
  int top = NormSum::kLimbs - 1;
  while (top > 0 && sum.limb[top] == 0)
    --top;
  if (top == 0)
    return std::sqrt(std::ldexp(double(uint64_t(sum.limb[0])), kNormUnit));
  // At least 65 bits, of which double takes 53: what lies below them only says
  // whether there is more than half a unit.
  auto leading = static_cast<unsigned __int128>(sum.limb[top]);
  int below = top; // the limb that `leading` does not have yet
  if (leading >> 64 == 0)
    leading = leading << 64 | uint64_t(sum.limb[--below]);
  bool more = std::any_of(sum.limb, sum.limb + below,
                          [](__int128 limb) { return limb != 0; });
  return std::sqrt(std::ldexp(double(leading | more), 64 * below + kNormUnit));
}

float clipCoefficient(double norm, double threshold, double unscale) {
  double ratio = threshold > 0 ? threshold / (norm + 1e-6) : 1;
  return float((ratio < 1 ? ratio : 1) * unscale);
}

} // namespace mtc::runtime
