//===- file.cpp - a schedule in a file ------------------------------------===//

#include "compiler/schedule/file.h"

namespace mtc::compiler {

/// Slots of as many microbatches as there may be, on a few stages.
static constexpr int64_t mostMebibytes = 64;

static models::Diagnostics toUsage(const std::string &path,
                                   const schedules::Findings &findings) {
  models::Diagnostics wrong;
  for (const schedules::Finding &finding : findings)
    wrong.push_back({models::ErrorClass::usage, path, 0, finding.message});
  return wrong;
}

const ScheduleFiles::File &ScheduleFiles::read(const std::string &path) {
  auto [it, isNew] = files.try_emplace(path);
  File &file = it->second;
  if (!isNew)
    return file;
  auto text = models::readTextFile(path, mostMebibytes);
  if (!text.ok()) {
    file.wrong = text.diagnostics;
    return file;
  }
  schedules::Findings findings;
  file.lines = schedules::readScheduleLines(text.value, findings);
  file.wrong = toUsage(path, findings);
  if (!file.wrong.empty())
    file.lines = {};
  return file;
}

models::Diagnostics readScheduleFile(ScheduleFiles &files,
                                     const std::string &path,
                                     const schedules::GivenSizes &given,
                                     schedules::Schedule &out) {
  const ScheduleFiles::File &file = files.read(path);
  if (!file.wrong.empty())
    return file.wrong;
  schedules::Findings findings;
  if (auto schedule = schedules::scheduleOf(file.lines, findings, given))
    out = std::move(*schedule);
  return toUsage(path, findings);
}

} // namespace mtc::compiler
