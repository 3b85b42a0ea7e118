//===- norm_values.cpp - what the tests of the norm are given -------------===//
#include "norm_values.h"

#include <bit>
#include <cmath>
#include <random>

namespace mtc::test {

using runtime::NormSum;

const ptx::Module *normModule = nullptr;
uint64_t normSeed = 0;

static std::mt19937_64 &generator() {
  static std::mt19937_64 made(normSeed);
  return made;
}
uint64_t someSeed() { return generator()(); }
size_t below(size_t count) { return someSeed() % count; }
uint32_t someBlocks() { return uint32_t(1 + below(4)); }

float valueOf(Kind kind) {
  static std::normal_distribution<float> normal;
  float x = normal(generator());
  switch (kind) {
  case Kind::wide:
    return std::ldexp(x, int(below(270)) - 145);
  case Kind::subnormal:
    return std::ldexp(x, -128 - int(below(20)));
  case Kind::huge:
    return below(2) ? kLargest : -kLargest;
  case Kind::sparse:
    return below(50) == 0 ? std::ldexp(x, int(below(60)) - 40) : 0;
  case Kind::bits: {
    // The ends of the subnormals, and of all.
    const uint32_t ends[] = {1, 0x7fffff, 0x800000, 0x800001, 0x7f7fffff};
    auto any =
        std::bit_cast<float>(below(4) ? uint32_t(someSeed()) : ends[below(5)]);
    return std::isfinite(any) ? any : 1;
  }
  default:
    return 1e-3f * x;
  }
}

std::vector<float> valuesOf(Kind kind, size_t count) {
  std::vector<float> g(count);
  for (float &x : g)
    x = valueOf(kind);
  return g;
}

NormSum someSum() {
  NormSum sum;
  for (__int128 &limb : sum.limb)
    limb = below(3) == 0 ? uint64_t(someSeed()) : ~uint64_t(0) >> below(2);
  if (below(2))
    sum.limb[NormSum::kLimbs - 1] = below(1000);
  return sum;
}

NormSum notFinite() {
  NormSum sum;
  sum.limb[NormSum::kLimbs - 1] = NormSum::kNotFinite;
  return sum;
}

} // namespace mtc::test
