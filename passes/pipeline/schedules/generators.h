//===- generators.h - the named schedules -----------------------*- C++ -*-===//
//
// Each schedule is one pure function and one row of the registry: its name, its
// function, the rules its parameters must satisfy, and its closed forms. All
// that knows schedules by name reads the registry: the strategy's key, the
// driver's help, the pass build-schedule and the tests.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_GENERATORS_H
#define MTC_PASSES_PIPELINE_SCHEDULES_GENERATORS_H

#include "passes/pipeline/schedules/asap.h"
#include "passes/pipeline/schedules/schedule.h"

#include <span>

namespace mtc::schedules {

/// p stages, m microbatches, v chunks per stage, microbatch group G (0: not
/// given, and schedules of one chunk want it so).
struct Params {
  int p = 1;
  int m = 1;
  int v = 1;
  int G = 0;
};

/// The entry of a program that a schedule is for: `train` or `eval`.
enum class Use : uint8_t { Training, Evaluation };

/// One row of the registry. All functions but `check` expect checked
/// parameters.
struct Generator {
  std::string_view name;
  /// What it does and why one takes it: a line of help.
  std::string_view what;
  Use use;
  /// The slots; `name` of the result is left to schedules::generate.
  Schedule (*generate)(const Params &);
  /// All broken rules, each with the code `parameters`.
  Findings (*check)(const Params &);
  /// Forwards before the first backward in the formula of the schedule; the
  /// list itself cannot tell w = n - 1 from w = n.
  int (*warmup)(const Params &, int stage);
  /// Leading run of F in the list of a stage.
  int (*lead)(const Params &, int stage);
  /// Activations (per chunk) held at most between F and B or I.
  int (*inFlight)(const Params &, int stage);
  /// Makespan less the busy time of a stage, in the unit of `costs`, no
  /// latency; nothing where no closed form holds, null where none is known.
  std::optional<int64_t> (*bubble)(const Params &, const Costs &);
  /// What a transfer latency of one unit, small against the slots, adds to the
  /// makespan; nothing where no closed form holds, null where none is known.
  std::optional<int64_t> (*latencyFactor)(const Params &);
};

/// The registry, in the order in which people read of it.
std::span<const Generator> generators();

/// The microbatch group where none is given, as Megatron-LM has it: p
/// microbatches where a stage has chunks, else none.
int defaultGroup(const Params &params);

/// What a strategy that names no schedule trains with.
inline constexpr std::string_view defaultTraining = "1f1b";

/// The row named `name`, or null.
const Generator *findGenerator(std::string_view name);

/// Names of the rows for training.
std::vector<std::string_view> trainingNames();

/// The error of training with schedule `name`, with the names that may stand in
/// its place; empty when there is none.
std::string trainingScheduleError(std::string_view name);

/// Checks the parameters and generates. On an unknown name or broken rules the
/// findings (code `parameters`) are appended and nothing is returned.
std::optional<Schedule> generate(std::string_view name, const Params &params,
                                 Findings &findings);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_GENERATORS_H
