//===- megatron_line.h - a step as Megatron-LM prints it --------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_MEGATRON_LINE_H
#define MTC_RUNTIME_TRAIN_MEGATRON_LINE_H

#include "runtime/train/step_times.h"

#include "mtc/runtime/log_fields.h"

#include <ctime>

namespace mtc::runtime {

/// What the line has beside the record.
struct MegatronFacts {
  std::time_t now = 0;
  int64_t steps = 0;   ///< of the run
  int64_t batch = 0;   ///< samples of a step
  double loss = 0;     ///< the mean of the steps of the line that have one
  int64_t skipped = 0; ///< steps of the line
};

/// " [2025-11-25 01:02:03] iteration        3/     100 | consumed samples: ...
/// | lm loss: 5.4E+00 | ... |" with its newline: the fields, their order and
/// their formats are those of megatron/training/training.py, which scripts look
/// for. The time is local. Returns the part of `buffer` that was filled.
std::string_view formatMegatron(const StepRecord &record,
                                const MegatronFacts &facts,
                                std::span<char> buffer);

/// "(min, max) time across ranks (ms):" and a line for each part of a level, as
/// megatron/core/timers.py prints them.
std::string_view formatMegatronTimes(const TimesOverRanks &times, int64_t level,
                                     std::span<char> buffer);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_MEGATRON_LINE_H
