//===- exact.h - f32 arithmetic before it is rounded ------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_EXACT_H
#define MTC_TEST_CUDA_PTX_EXACT_H

#include <cstdint>
#include <string_view>
#include <utility>

namespace mtc::ptx {

/// What an instruction computes of two or three f32.
enum class Arithmetic : uint8_t { none, sum, difference, product, fused };

/// Of "@%p1 fma.rn.f32 ...", its guard or none in front of it.
Arithmetic arithmeticOf(std::string_view line);

/// The value without rounding, as two doubles that do not overlap: equal pairs
/// are equal values. Of infinities and NaN the second is 0; zeros have no sign.
std::pair<double, double> exactValue(Arithmetic what, float a, float b,
                                     float c);

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_EXACT_H
