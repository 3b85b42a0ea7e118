//===- Affine.h - integers affine in coordinates and step -------*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_AFFINE_H
#define MTC_DIALECTS_RT_AFFINE_H

#include "mtc/runtime/mesh.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace mtc::rt {

/// What an affine integer is a multiple of: the coordinates (numbered as
/// MtcAxis), and what changes with step and microbatch.
enum Variable : unsigned {
  kMicrobatch = MTC_AXIS_COUNT,
  kSample,
  kSeed,
  kVariables
};

/// "tp", .., "microbatch", "sample", "seed".
std::string_view variableName(unsigned variable);

/// constant + Σ factors[v] · variable v.
struct Affine {
  int64_t constant = 0;
  std::array<int64_t, kVariables> factors{};

  int64_t &operator[](unsigned variable) { return factors[variable]; }
  int64_t operator[](unsigned variable) const { return factors[variable]; }
  bool operator==(const Affine &) const = default;
};

} // namespace mtc::rt
#endif // MTC_DIALECTS_RT_AFFINE_H
