//===- limits.h - the most that specs and strategies may ask for -*- C++
//-*-===//
#ifndef MTC_MODELS_LIMITS_H
#define MTC_MODELS_LIMITS_H

#include <cstdint>

namespace mtc::models {

/// The RNG's counter has 16 bits for a layer (docs/numerics.md).
inline constexpr int64_t kMostLayers = 65535;
/// A compilation of so many takes seconds and a GiB; time and memory grow with
/// their number, of each chunk, and no training has more.
inline constexpr int64_t kMostMicrobatches = 100'000;

} // namespace mtc::models
#endif // MTC_MODELS_LIMITS_H
