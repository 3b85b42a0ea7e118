//===- log_fields.h - every key of a log ------------------------*- C++ -*-===//
//
// The one list: what `mtc run` writes, help and reference pages follow from it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_LOG_FIELDS_H
#define MTC_RUNTIME_LOG_FIELDS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace mtc::runtime {

/// What is known about one step.
struct StepRecord {
  int64_t step = 0;
  float loss = 0;      ///< mean over the global batch
  double gradNorm = 0; ///< before clipping
  float lr = 0;
  int64_t tokens = 0;                           ///< since the first step
  double tokensPerSecond = 0, milliseconds = 0; ///< of this step
  // Of runs that scale the loss.
  std::optional<double> lossScale = {};     ///< of this step
  std::optional<int64_t> skippedSteps = {}; ///< so far, this one included
  // Of a step that failed; otherwise empty. The texts are the caller's.
  std::string_view notFinite = {};    ///< the loss, or whose gradient
  std::string_view badParameter = {}; ///< that was not finite before the step
};

/// What is known about an evaluation.
struct EvaluationRecord {
  int64_t step = 0; ///< the last one that made the parameters
  double loss = 0;  ///< mean over all batches
  double perplexity = 0;
  int64_t batches = 0, firstSample = 0;
  std::string_view notFinite = {}; ///< "loss", or empty
};

/// A key of the JSON objects that are made of `Record`s.
template <typename Record> struct LogField {
  using Member =
      std::variant<int64_t Record::*, float Record::*, double Record::*,
                   std::optional<int64_t> Record::*,
                   std::optional<double> Record::*, std::string_view Record::*>;
  const char *key;
  Member member; ///< its type, and where it is
  const char *meaning;
  const char *example; ///< as in a line
};

/// In the order in which they are written. What is empty is left out; a number
/// that is not finite is null.
std::span<const LogField<StepRecord>> stepFields();
std::span<const LogField<EvaluationRecord>> evaluationFields();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_LOG_FIELDS_H
