//===- generators.h - the named schedules ------------------------*- C++
//-*-===//
//
// Each schedule is one pure function and one row of the registry: its name, its
// function, the rules its parameters must satisfy, and its closed forms.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_GENERATORS_H
#define MTC_PASSES_PIPELINE_SCHEDULES_GENERATORS_H

#include "passes/pipeline/schedules/asap.h"
#include "passes/pipeline/schedules/schedule.h"

#include <span>

namespace mtc::schedules {

/// p stages, m microbatches, v chunks per stage, microbatch group G (0: not
/// given, and 1f1b, gpipe, zb-h1 want it so). `warmupExtra` more warm-up
/// forwards of 1f1b on every stage but the last cost one activation each and
/// hide the latency of transfers, which otherwise grows with m.
struct Params {
  int p = 1;
  int m = 1;
  int v = 1;
  int G = 0;
  int warmupExtra = 0;
};

/// One row of the registry. All functions but `check` expect checked
/// parameters.
struct Generator {
  std::string_view name;
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
  /// latency; nothing where no closed form holds.
  std::optional<int64_t> (*bubble)(const Params &, const Costs &);
  /// What a transfer latency of one unit, small against the slots, adds to the
  /// makespan; nothing where no closed form holds.
  std::optional<int64_t> (*latencyFactor)(const Params &);
};

/// gpipe, 1f1b, interleaved-1f1b, zb-h1, forward-only.
std::span<const Generator> generators();

/// The row named `name`, or null.
const Generator *findGenerator(std::string_view name);

/// Checks the parameters and generates. On an unknown name or broken rules the
/// findings (code `parameters`) are appended and nothing is returned.
std::optional<Schedule> generate(std::string_view name, const Params &params,
                                 Findings &findings);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_GENERATORS_H
