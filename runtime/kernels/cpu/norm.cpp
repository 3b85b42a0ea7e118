#include "runtime/kernels/cpu/norm.h"

#include "runtime/kernels/cpu/kernel_table.h"

#include <bit>
#include <cmath>
#include <limits>

namespace mtc::runtime {

static void poison(NormSum &sum) { sum.units = NormSum::kNotFinite; }

/// One square in units of 2^-92, from the parts of the float: g = m·2^e.
static __int128 squareUnits(float g) {
  uint32_t bits = std::bit_cast<uint32_t>(g) & 0x7fffffffu;
  uint32_t exponent = bits >> 23;
  uint64_t m = (bits & 0x7fffffu) | (exponent ? 0x800000u : 0u);
  int e = int(exponent ? exponent : 1) - 150;
  uint64_t square = m * m;
  int shift = 2 * e + 92;
  if (shift >= 0)
    return __int128{square} << shift;
  if (shift < -60) // the square has 48 bits: far below half a unit
    return 0;
  uint64_t kept = square >> -shift;
  uint64_t rest = square - (kept << -shift), half = uint64_t{1} << (-shift - 1);
  return __int128{kept} + (rest > half || (rest == half && (kept & 1)));
}

static void addUnits(NormSum &sum, __int128 units) {
  if (!sum.finite() || __builtin_add_overflow(sum.units, units, &sum.units))
    poison(sum);
}

static void accumulateSlowly(NormSum &sum, const float *g, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    // Written so that NaN fails it, too.
    if (!(g[i] < 0x1p17f && g[i] > -0x1p17f))
      poison(sum);
    else
      addUnits(sum, squareUnits(g[i]));
  }
}

void normAccumulate(NormSum &sum, const float *g, int64_t count) {
  const KernelTable *table = selectedKernels();
  for (int64_t at = 0; at < count && sum.finite(); at += kNormChunk) {
    int64_t n = count - at < kNormChunk ? count - at : kNormChunk;
    NormParts parts;
    if (table && table->normChunk(g + at, n, &parts))
      addUnits(sum, (__int128{parts.high} << 52) + parts.low);
    else
      accumulateSlowly(sum, g + at, n);
  }
}

void normCombine(NormSum &sum, const NormSum &other) {
  if (!other.finite())
    poison(sum);
  else
    addUnits(sum, other.units);
}

double normValue(const NormSum &sum) {
  if (!sum.finite())
    return std::numeric_limits<double>::infinity();
  return std::sqrt(double(sum.units) * 0x1p-92);
}

float clipCoefficient(double norm, double threshold) {
  if (threshold <= 0)
    return 1.0f;
  double ratio = threshold / (norm + 1e-6);
  return ratio < 1.0 ? float(ratio) : 1.0f;
}

} // namespace mtc::runtime
