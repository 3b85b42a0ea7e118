//===- file.cpp - a schedule in a file ------------------------------------===//

#include "compiler/schedule/file.h"

namespace mtc::compiler {

/// Slots of as many microbatches as there may be, on a few stages.
static constexpr int64_t mostMebibytes = 64;

models::Diagnostics readScheduleFile(const std::string &path,
                                     const schedules::GivenSizes &given,
                                     schedules::Schedule &out) {
  auto text = models::readTextFile(path, mostMebibytes);
  if (!text.ok())
    return text.diagnostics;
  schedules::Findings findings;
  auto schedule = schedules::readScheduleText(text.value, findings, given);
  models::Diagnostics wrong;
  for (const schedules::Finding &finding : findings)
    wrong.push_back({models::ErrorClass::usage, path, 0, finding.message});
  if (schedule)
    out = std::move(*schedule);
  return wrong;
}

} // namespace mtc::compiler
