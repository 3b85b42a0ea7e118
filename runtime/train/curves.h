//===- curves.h - functions of schedules, without a C library ---*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_CURVES_H
#define MTC_RUNTIME_TRAIN_CURVES_H

namespace mtc::runtime {

// By + - * only: the same bits with any C library. 0 <= x <= 1.

/// cos(pi·x), error below 1e-15.
double cosPi(double x);

/// 2^-x, error below 1e-15.
double halfToThe(double x);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_CURVES_H
