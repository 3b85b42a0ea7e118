//===- runs.h - what logs say of runs ---------------------------*- C++ -*-===//
#ifndef MTC_TOOLS_PLOT_RUNS_H
#define MTC_TOOLS_PLOT_RUNS_H

#include "runtime/base/status.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::plot {

/// A value of a key, and the step that it is of.
struct Sample {
  double step = 0;
  std::map<std::string, double> values; ///< numbers of the line, by key
};

/// One run: the lines of its steps, in order, and those of its evaluations.
struct Run {
  std::string name;
  std::vector<Sample> samples;
  /// What a step lacks is a gap: lines of a log have all keys of their kind. Of
  /// events each tag has steps of its own.
  bool lacksAreGaps = true;
};

/// Takes the text of a log (docs/reference/log.md) apart and appends its runs,
/// named `name`, the second one of a file `name (2)`. A run that goes on from a
/// checkpoint replaces what the lines before it say of later steps; one that
/// begins anew is another run. Numbers that are null are left out. A last line
/// without its end, of a run that was killed, is passed over. Errors:
/// inputRejected: a line that is no JSON object, with its number; no step.
runtime::Status readRuns(std::string_view text, const std::string &name,
                         std::vector<Run> &runs);

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_RUNS_H
