//===- step_states.h - random states of a run -------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NORM_STEP_STATES_H
#define MTC_TEST_CUDA_NORM_STEP_STATES_H

#include "mtc/runtime/update_state.h"

namespace mtc::test {

/// Some steps behind the first of a run.
MtcUpdates someUpdates();

/// Of the step behind `updates`, by a rule of which each branch is near; each
/// value of its block and its rates is another.
MtcStepOrder someOrder(const MtcUpdates &updates);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_NORM_STEP_STATES_H
