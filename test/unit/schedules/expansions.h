//===- expansions.h - all plans of a schedule -------------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_SCHEDULES_EXPANSIONS_H
#define MTC_TEST_UNIT_SCHEDULES_EXPANSIONS_H

#include "passes/pipeline/schedules/schedule.h"

namespace mtc::schedules::test {

/// Expects that the schedule is accepted, and that its plan at every depth and
/// grouping is accepted by the plan check, runs on the strictest machine for
/// two steps in a row, and adds up what every other one does.
void expectEveryExpansionRuns(const Schedule &schedule);

} // namespace mtc::schedules::test
#endif // MTC_TEST_UNIT_SCHEDULES_EXPANSIONS_H
