//===- curves.cpp - functions of schedules, without a C library -----------===//

#include "runtime/train/curves.h"

namespace mtc::runtime {

double cosPi(double x) {
  if (x > 0.5)
    return -cosPi(1 - x);
  // Taylor series to the 22nd power by Horner's rule; for |t| <= pi/2 the next
  // term is below 1e-19.
  constexpr double pi = 3.14159265358979323846;
  double t2 = (pi * x) * (pi * x);
  double sum = 1;
  for (int n = 22; n >= 2; n -= 2)
    sum = 1 - t2 / (n * (n - 1)) * sum;
  return sum;
}

double halfToThe(double x) {
  // As above, of e^-t to the 18th power: for t <= ln 2 the next term is below
  // 1e-20.
  constexpr double ln2 = 0.69314718055994530942;
  double t = ln2 * x;
  double sum = 1;
  for (int n = 18; n >= 1; --n)
    sum = 1 - t / n * sum;
  return sum;
}

} // namespace mtc::runtime
