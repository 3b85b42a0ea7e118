//===- not_finite.h - what a failed step could not compute ------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_NOT_FINITE_H
#define MTC_RUNTIME_TRAIN_NOT_FINITE_H

#include "runtime/program/rank.h"

#include <string>

namespace mtc::runtime {

/// What is not finite where gradients are, and their squares would not be.
inline constexpr const char *kSquares = "square of the gradients in fp32";

/// Why a step cannot be completed.
struct NotFinite {
  float loss = 0; ///< of the step
  /// "loss", or "gradient of NAME": the first parameter in the model's order
  /// that has such a gradient, or kSquares. ("gradient norm" if none of these
  /// is so: the sum itself is broken.)
  std::string what;
  std::string help; ///< what to do; may be empty
  /// The first parameter that is not finite itself, or not in its own type;
  /// empty: all of them are.
  std::string parameter;
  /// Whether parameters have a type that holds less than fp32.
  bool isNarrow = false;

  /// For people: what was found in `step`, and what the parameters are.
  std::string text(int64_t step) const;
};

/// Looks at gradients and parameters as they are between `reduce` and `apply`,
/// or behind an `apply` that its guards left out,
/// each rank at those that it holds. Every rank of the mesh calls it, with the
/// loss of its last result; afterwards all have the same answer. Errors: those
/// of the stream and of the communicator.
Status findNotFinite(RankState &rank, float loss, NotFinite &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_NOT_FINITE_H
