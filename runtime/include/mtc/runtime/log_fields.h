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

/// JSON that is written as it is; empty: left out. The text is the caller's.
struct JsonText {
  std::string_view text;
};

/// What is known about a run before its first step.
struct RunRecord {
  int64_t header = 1; ///< the version of the log's format
  double time = 0;    ///< when it began, seconds since 1970 (UTC)
  std::string_view mtc = {}, onednn = {}, libc = {};
  int64_t abi = 0;
  std::string_view host = {}, model = {}, plan = {};
  JsonText mesh = {};
  int64_t ranks = 0;
  std::string_view comm = {}, isa = {}, dtype = {};
  int64_t globalBatch = 0;
  JsonText seed = {};
  JsonText recipe = {};
  int64_t startStep = 0;           ///< that is done: of a checkpoint
  int64_t memoryBytes = 0;         ///< planned, of the rank that needs most
  JsonText flopsPerToken = {};     ///< by tokens of a sample
  std::string_view flopsRule = {}; ///< how they are counted
  std::optional<double> peak = {}; ///< of one rank, TFLOP/s
  JsonText gemms = {}; ///< of GPUs, what ranks agreed on; stays the last one
};

/// What is known about one step, or of several that have one line.
struct StepRecord {
  int64_t step = 0;
  float loss = 0;      ///< mean over the global batch
  double gradNorm = 0; ///< before clipping
  float lr = 0;
  int64_t tokens = 0;                           ///< since the first step
  double tokensPerSecond = 0, milliseconds = 0; ///< of the steps of this line
  // Of runs that scale the loss.
  std::optional<double> lossScale = {};     ///< of this step
  std::optional<int64_t> skippedSteps = {}; ///< so far, this one included
  // Of a step that failed; otherwise empty. The texts are the caller's.
  std::string_view notFinite = {};    ///< the loss, or whose gradient
  std::string_view badParameter = {}; ///< that was not finite before the step
  int64_t samples = 0;                ///< since the first step
  std::optional<double> tflops = {};  ///< of a rank, of the model
  std::optional<double> mfu = {};     ///< of the peak: 0 to 1
  int64_t residentBytes = 0;          ///< of the process that logs
  double time = 0;                    ///< seconds since 1970 (UTC)
  JsonText times = {};                ///< by name, over ranks
  std::optional<int64_t> globalBatch = {}; ///< of a run whose batch grows
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
                   std::string_view Record::*, std::optional<int64_t> Record::*,
                   std::optional<double> Record::*, JsonText Record::*>;
  const char *key;
  Member member; ///< its type, and where it is
  const char *meaning;
  const char *example;       ///< as in a line
  const char *tag = nullptr; ///< as a scalar of TensorBoard; null: it is none
};

/// In the order in which they are written. What is empty is left out; a number
/// that is not finite is null.
std::span<const LogField<RunRecord>> runFields();
std::span<const LogField<StepRecord>> stepFields();
std::span<const LogField<EvaluationRecord>> evaluationFields();

/// A part of a step's time on the stream of fragments. Parts do not overlap,
/// and those of a level add up to the step.
struct TimePart {
  const char *name;
  const char *meaning;
  /// The part that it belongs to at level 1; null: it is one of level 1.
  const char *within = nullptr;
};

/// All parts, those of level 2 behind that which they belong to.
std::span<const TimePart> timeParts();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_LOG_FIELDS_H
