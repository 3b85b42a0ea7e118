//===- past_orders.h - what was to be written of past steps -----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_PAST_ORDERS_H
#define MTC_RUNTIME_CONTROL_PAST_ORDERS_H

#include "runtime/base/status.h"
#include "runtime/train/job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// What a job that goes on behind `step` with its own checkpoint, by the same
/// command line or started again, cannot write any more, and has written if it
/// came so far: dumps and traces of what was before. Of a trace that had begun
/// the steps that are left stay. Returns what each was, for people.
std::vector<std::string> leaveOutPast(Job &job, int64_t step);

/// A line on standard error, if something was left out.
void sayLeftOut(const std::vector<std::string> &what, int64_t step);

/// Of a run that begins with a checkpoint that it loads: its initial parameters
/// are those; a trace of the whole run begins behind it. Errors: usage, a dump
/// or trace of a step before.
Status checkNonePast(Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_PAST_ORDERS_H
