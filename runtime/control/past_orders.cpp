//===- past_orders.cpp - what was to be written of past steps -------------===//

#include "runtime/control/past_orders.h"

#include "runtime/control/say.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

/// Whether a dump is of what was before the end of a step. Parameters behind it
/// are those that the run goes on with: it may have ended before it wrote them.
bool isPast(const DumpOrder &dump, int64_t step) {
  return dump.step < step + (dump.what == "grads");
}

bool isOfStep(const DumpOrder &dump) { return dump.step > 0; }

std::string nameOf(const DumpOrder &dump) {
  return isOfStep(dump) ? fmt::format("{}@{}", dump.what, dump.step)
                        : dump.what;
}

std::string stepsText(int64_t first, int64_t last) {
  return first == last ? fmt::format("step {}", first)
                       : fmt::format("steps {} to {}", first, last);
}

/// Empty if no step of it is past.
std::string leaveOutPastSteps(TraceOrder &trace, int64_t step) {
  if (trace.first == 0)
    return "";
  if (trace.fromStart && trace.last > step)
    trace.first = step + 1; // the first of this run, as asked
  if (trace.first > step)
    return "";
  std::string text = fmt::format(
      "the trace of {} ('{}')",
      stepsText(trace.first, std::min(trace.last, step)), trace.file);
  if (trace.last <= step)
    trace = {};
  else
    trace.first = step + 1;
  return text;
}

} // namespace

std::vector<std::string> leaveOutPast(Job &job, int64_t step) {
  std::vector<std::string> past;
  for (const DumpOrder &dump : job.dumps)
    if (isPast(dump, step))
      past.push_back(
          fmt::format("the dump {} ('{}')", nameOf(dump), dump.file));
  std::erase_if(job.dumps,
                [&](const DumpOrder &dump) { return isPast(dump, step); });
  if (std::string text = leaveOutPastSteps(job.trace, step); !text.empty())
    past.push_back(std::move(text));
  return past;
}

void sayLeftOut(const std::vector<std::string> &what, int64_t step) {
  if (!what.empty())
    say(fmt::format("not written, as the run goes on behind step {}: {}", step,
                    fmt::join(what, ", ")));
}

Status checkNonePast(Job &job) {
  int64_t start = job.startStep();
  if (job.trace.fromStart)
    job.trace.first = start + 1;
  for (const DumpOrder &dump : job.dumps)
    if (isOfStep(dump) && isPast(dump, start))
      return {StatusCode::usage,
              fmt::format("--dump {}: the run goes on behind step {}; name a "
                          "later one",
                          nameOf(dump), start)};
  const TraceOrder &trace = job.trace;
  if (trace.first > 0 && (trace.first <= start || trace.first > trace.last))
    return {
        StatusCode::usage,
        fmt::format("the trace '{}' is of {}, and the run goes on behind "
                    "step {}; name a later one",
                    trace.file,
                    stepsText(std::min(trace.first, trace.last), trace.last),
                    start)};
  return Status::okay();
}

} // namespace mtc::runtime
