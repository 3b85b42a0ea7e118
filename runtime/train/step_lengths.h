//===- step_lengths.h - how long the samples of a step are ------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_STEP_LENGTHS_H
#define MTC_RUNTIME_TRAIN_STEP_LENGTHS_H

#include "mtc/runtime/descriptor.h"
#include "mtc/runtime/status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Steps of a run with samples of one length.
struct LengthPart {
  int64_t seq = 0;           ///< tokens of a sample
  int64_t steps = INT64_MAX; ///< of the last part: all that are left
};

/// The lengths of a run's samples, in the order of its steps: the key `seq` of
/// a recipe.
class StepLengths {
public:
  /// Reads "512:1000, 1024": samples of 512 tokens for 1,000 steps, then of
  /// 1,024. An empty text is the longest. Errors: usage, for a text that says
  /// no such thing.
  static Status parse(std::string_view text, StepLengths &out);

  /// The same for a program: what is not said is its longest, and it must have
  /// entries for all. Errors: usage, with the lengths that it has.
  static Status parse(std::string_view text, const Descriptor &program,
                      StepLengths &out);

  const std::vector<LengthPart> &parts() const { return parts_; }
  /// Of a step, from 1 on.
  int64_t of(int64_t step) const;
  /// Of an evaluation: as in the last steps.
  int64_t ofEvaluation() const { return parts_.back().seq; }

private:
  std::vector<LengthPart> parts_; ///< at least one
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_STEP_LENGTHS_H
