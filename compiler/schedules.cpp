//===- schedules.cpp - the schedules that mtc knows -----------------------===//

#include "compiler/schedules.h"

#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/generators.h"
#include "passes/pipeline/schedules/schedule_file.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace mtc::compiler {

/// Its rules reject any sizes with one chunk a stage.
static bool needsChunks(const schedules::Generator &row) {
  return !row.check({/*p=*/2, /*m=*/4, /*v=*/1, /*G=*/0}).empty();
}

std::vector<ScheduleInfo> allSchedules() {
  std::vector<ScheduleInfo> all;
  for (const schedules::Generator &row : schedules::generators())
    all.push_back({std::string(row.name),
                   row.use == schedules::Use::Training ? "train" : "eval",
                   std::string(row.what), needsChunks(row)});
  return all;
}

std::string schedulesText() {
  std::string text;
  for (const ScheduleInfo &info : allSchedules())
    text += fmt::format("{:<17} {:<6} {}{}\n", info.name, info.entry, info.what,
                        info.needsChunks ? "; with --chunks of 2 or more" : "");
  return text;
}

models::ScheduleNames scheduleNames() { return {schedules::trainingNames()}; }

std::string resolveSchedule(models::Strategy &strategy) {
  if (strategy.schedule.empty())
    strategy.schedule = schedules::defaultTraining;
  if (models::isScheduleFile(strategy.schedule))
    return "";
  return schedules::whyNotTrained(strategy.schedule);
}

static schedules::Params paramsOf(const models::Strategy &strategy) {
  return {static_cast<int>(strategy.mesh.stages()),
          static_cast<int>(strategy.microbatches()),
          static_cast<int>(strategy.chunks),
          static_cast<int>(strategy.microbatchGroup)};
}

static models::Diagnostics checkNamed(const models::Strategy &strategy) {
  models::Diagnostics found;
  const schedules::Generator *row = schedules::findGenerator(strategy.schedule);
  for (const schedules::Finding &finding : row->check(paramsOf(strategy)))
    found.push_back({models::ErrorClass::infeasible, "strategy", 0,
                     fmt::format("schedule '{}' of p = pp, m = microbatches, v "
                                 "= chunks, G = microbatch_group: {}",
                                 strategy.schedule, finding.message)});
  return found;
}

/// Of a stage and chunk there is one backward fragment, or the two halves of
/// it.
static void addMixedStyles(const schedules::Schedule &schedule,
                           schedules::Findings &findings) {
  for (size_t stage = 0; stage < schedule.slots.size(); ++stage) {
    std::set<int> whole, split; // chunks
    for (const schedules::Slot &slot : schedule.slots[stage]) {
      if (slot.phase == schedules::Phase::B)
        whole.insert(slot.chunk);
      else if (slot.phase != schedules::Phase::F)
        split.insert(slot.chunk);
    }
    for (int chunk : whole)
      if (split.contains(chunk))
        findings.push_back(
            {"phase-mix",
             fmt::format(
                 "stage {} chunk {}: expected B in all microbatches, or "
                 "I and W in all, found both",
                 stage, chunk)});
  }
}

static models::Diagnostics readFile(models::Strategy &strategy) {
  std::string path = strategy.schedule;
  auto text = models::readTextFile(path);
  if (!text.ok())
    return text.diagnostics;
  schedules::Params params = paramsOf(strategy);
  schedules::Findings findings;
  auto schedule = schedules::readScheduleText(text.value, findings,
                                              {params.p, params.m, params.v});
  models::ErrorClass kind = models::ErrorClass::usage; // it cannot be read
  if (schedule && findings.empty()) {
    kind = models::ErrorClass::infeasible;
    findings = schedules::checkSchedule(*schedule);
    addMixedStyles(*schedule, findings);
  }
  models::Diagnostics found;
  for (const schedules::Finding &finding : findings)
    found.push_back(
        {kind, path, 0,
         fmt::format("{} (pp = {}, {} microbatches, chunks = {})",
                     finding.message, params.p, params.m, params.v)});
  if (!found.empty())
    return found;
  for (const auto &slots : schedule->slots)
    strategy.scheduleSlots.push_back(
        schedules::printSlots(slots, schedule->chunks));
  strategy.schedule = std::filesystem::path(path).stem().string();
  return found;
}

models::Diagnostics readSchedule(models::Strategy &strategy) {
  return models::isScheduleFile(strategy.schedule) ? readFile(strategy)
                                                   : checkNamed(strategy);
}

} // namespace mtc::compiler
