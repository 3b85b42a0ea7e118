//===- metrics.h - the step log --------------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_METRICS_H
#define MTC_RUNTIME_TRAIN_METRICS_H

#include "mtc/runtime/log_fields.h"
#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// The first line of a run, newline included: a JSON object with the keys of
/// `runFields`.
std::string formatRun(const RunRecord &record);

/// The same line with the last key of `runFields`, which only ranks know, as
/// `json` has it; empty: without it.
std::string withGemms(const std::string &line, std::string_view json);

/// Formats one line of the log, newline included: a JSON object with the keys
/// of `stepFields`. Numbers are the shortest text that reads back to the same
/// float or double. Returns the part of `buffer` that was filled. Allocates
/// nothing, unless a step failed.
std::string_view formatStep(const StepRecord &record, std::span<char> buffer);

/// The same about an evaluation, with the keys of `evaluationFields`.
std::string_view formatEvaluation(const EvaluationRecord &record,
                                  std::span<char> buffer);

/// "step 3/100  loss 5.4321  1234 tokens/s  ETA 1m05s", then gradient norm,
/// learning rate, and what else is known: TFLOP/s of a rank, MFU, resident
/// memory. Rows of a narrow terminal show what comes first.
std::string_view formatProgress(const StepRecord &record, int64_t steps,
                                std::span<char> buffer);

/// "step 3/100  evaluation: loss 5.4321  perplexity 228.6".
std::string_view formatProgress(const EvaluationRecord &record, int64_t steps,
                                std::span<char> buffer);

/// Bytes that hold any line of a step: two names of 252 bytes, each of which
/// may be six in JSON, named times, and numbers.
constexpr size_t kLongestLine = 8192;

/// A log file, one write per line. A failing write drops the line, all of it,
/// and never stops the training; `status` tells at the end. A pipe that is full
/// or a stopped terminal has a second to take a line; while it takes none, no
/// further line waits for it.
class StepLog {
public:
  /// Writes from now on to `fd`, at its position: the caller's, which stays
  /// open. `path` is its name in messages. `alone`: a file that nobody else
  /// writes; half a line that a full disk took is removed from it.
  void attach(int fd, const std::string &path, bool alone = false);
  void line(std::string_view text);
  /// Whether it is a file on a disk, which takes lines of any length at once.
  bool isRegular() const { return isRegular_; }
  int64_t dropped() const { return dropped_; }
  /// Errors: writeFailed when a line was dropped.
  Status status() const;

private:
  bool waitForRoom();
  std::string path_;
  int fd_ = -1, error_ = 0; ///< errno of the last line that was dropped
  int64_t lines_ = 0, dropped_ = 0;
  int64_t bytes_ = 0; ///< where the last whole line ends
  bool alone_ = false;
  bool isRegular_ = false; ///< a file on a disk, which has no readers
  bool stuck_ = false;     ///< the last line found no room
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_METRICS_H
