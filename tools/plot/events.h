//===- events.h - what TensorBoard's files say of a run ---------*- C++ -*-===//
#ifndef MTC_TOOLS_PLOT_EVENTS_H
#define MTC_TOOLS_PLOT_EVENTS_H

#include "tools/plot/runs.h"

#include <map>

namespace mtc::plot {

/// The run of one folder of event files: files in the order of their names,
/// which begin with the second in which they were begun. One that says that the
/// run begins with a step replaces what earlier ones say of it and later ones,
/// as TensorBoard has it. A scalar has the name of its tag and, where `mtc run`
/// or Megatron-LM give a key of the log that tag, that key; `time` is when it
/// was written. Numbers that are not finite are NaN.
class EventRun {
public:
  /// Errors: those of readEventRecords.
  runtime::Status add(std::string_view bytes, const std::string &name);
  /// The run, steps ascending. Errors: inputRejected: no scalar at all.
  runtime::Status finish(const std::string &name, std::vector<Run> &runs);

private:
  std::map<double, Sample> samples_; ///< by step
};

} // namespace mtc::plot
#endif // MTC_TOOLS_PLOT_EVENTS_H
