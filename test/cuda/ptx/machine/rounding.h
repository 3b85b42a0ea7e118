//===- rounding.h - arithmetic with a given rounding ------------*- C++ -*-===//
//
// The usual rounding, to nearest even, is that of C++ and needs none of this.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_ROUNDING_H
#define MTC_TEST_CUDA_PTX_MACHINE_ROUNDING_H

#include <cstdint>

namespace mtc::ptx {

/// `away` is to nearest, ties away from zero.
enum class Rounding : uint8_t { nearest, zero, down, up, away };

enum class RoundedOp : uint8_t { add, sub, mul, fma, div, sqrt };

/// a op b, or with c: once rounded. Unused operands are ignored.
float rounded(RoundedOp op, Rounding how, float a, float b, float c);
double rounded(RoundedOp op, Rounding how, double a, double b, double c);
/// The same of `count` values each: to change the machine's rounding takes
/// longer than to round.
void roundAll(RoundedOp op, Rounding how, int count, const float *a,
              const float *b, const float *c, float *made);
void roundAll(RoundedOp op, Rounding how, int count, const double *a,
              const double *b, const double *c, double *made);

/// A format of fewer bits than f32 has: of its fraction and exponent.
struct SmallFormat {
  int fraction, exponent;
};
constexpr SmallFormat kF16{10, 5}, kBf16{7, 8}, kTf32{10, 8}, kF32{23, 8};

/// The bits of a number in a format, once rounded. A NaN becomes all ones but
/// the sign; what is too large an infinity, or, where the rounding goes the
/// other way or `saturate` says so, the largest number.
uint32_t toFormat(double value, SmallFormat format, Rounding how,
                  bool saturate = false);

/// a·b + c as a double from which any float format is rounded right: the exact
/// value with its last bit set if it has more bits than a double.
double oddFma(double a, double b, double c);
double oddAdd(double a, double b);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_ROUNDING_H
