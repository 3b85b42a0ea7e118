//===- svg.h - a schedule over time, as a picture ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_SVG_H
#define MTC_PASSES_PIPELINE_SCHEDULES_SVG_H

#include "passes/pipeline/schedules/figures.h"

namespace mtc::schedules {

/// A picture of its own, without scripts, fonts or files of others: a lane per
/// stage with a box per slot (colour: phase; shade: chunk; number: microbatch),
/// under each lane its warm-up, steady state and cool-down, then an axis of
/// time and a legend. Colours of text and ground follow the reader's choice of
/// light or dark. `title` is above it. Boxes have the class `slot` and say what
/// they are when pointed at.
std::string drawSvg(const Schedule &schedule, const Costs &costs,
                    const Figures &figures, std::string_view title);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_SVG_H
