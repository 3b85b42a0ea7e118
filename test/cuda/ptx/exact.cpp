//===- exact.cpp - f32 arithmetic before it is rounded --------------------===//
#include "test/cuda/ptx/exact.h"

#include <cmath>
#include <limits>

namespace mtc::ptx {
namespace {

/// Knuth's sum of two: what rounding takes from it is the second.
std::pair<double, double> sumOf(double a, double b) {
  double sum = a + b;
  if (std::isnan(sum))
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  if (!std::isfinite(sum))
    return {sum, 0};
  double other = sum - a;
  double rest = (a - (sum - other)) + (b - other);
  return {sum + 0.0, rest + 0.0};
}

} // namespace

Arithmetic arithmeticOf(std::string_view line) {
  size_t start = line.find_first_not_of(" \t");
  if (start != line.npos && line[start] == '@') {
    start = line.find_first_of(" \t", start);
    start = line.find_first_not_of(" \t", start);
  }
  if (start == line.npos)
    return Arithmetic::none;
  std::string_view rest = line.substr(start);
  std::string_view name = rest.substr(0, rest.find_first_of(" \t"));
  if (!name.ends_with(".f32") || name.find("f32x2") != name.npos)
    return Arithmetic::none;
  if (name.starts_with("add."))
    return Arithmetic::sum;
  if (name.starts_with("sub."))
    return Arithmetic::difference;
  if (name.starts_with("mul."))
    return Arithmetic::product;
  return name.starts_with("fma.") ? Arithmetic::fused : Arithmetic::none;
}

std::pair<double, double> exactValue(Arithmetic what, float a, float b,
                                     float c) {
  // A product of two f32 is a double to the bit, and none overflows.
  switch (what) {
  case Arithmetic::sum:
    return sumOf(a, b);
  case Arithmetic::difference:
    return sumOf(a, -double(b));
  case Arithmetic::product:
    return sumOf(double(a) * b, 0);
  case Arithmetic::fused:
    return sumOf(double(a) * b, c);
  case Arithmetic::none:
    break;
  }
  return {0, 0};
}

} // namespace mtc::ptx
