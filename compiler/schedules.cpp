//===- schedules.cpp - the schedules that mtc knows -----------------------===//

#include "compiler/schedules.h"

#include "compiler/schedule/file.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/generators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

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
  return schedules::trainingScheduleError(strategy.schedule);
}

static schedules::Params paramsOf(const models::Strategy &strategy) {
  schedules::Params params{static_cast<int>(strategy.mesh.stages()),
                           static_cast<int>(strategy.microbatches()),
                           static_cast<int>(strategy.chunks), /*G=*/0};
  params.G = strategy.microbatchGroup > 0
                 ? static_cast<int>(strategy.microbatchGroup)
                 : schedules::defaultGroup(params);
  return params;
}

static models::Diagnostics checkNamed(const models::Strategy &strategy) {
  models::Diagnostics found;
  std::set<std::string> said; // not by m, so of each batch
  const schedules::Generator *row = schedules::findGenerator(strategy.schedule);
  models::Strategy own = strategy;
  for (int64_t batch : strategy.globalBatches()) {
    own.globalBatchSize = batch;
    std::string where = strategy.smallerGlobalBatches.empty()
                            ? ""
                            : fmt::format(" (global_batch_size = {})", batch);
    for (const schedules::Finding &finding : row->check(paramsOf(own)))
      if (said.insert(finding.message).second)
        found.push_back(
            {models::ErrorClass::infeasible, "strategy", 0,
             fmt::format("schedule '{}' of p = pp, m = "
                         "microbatches, v = chunks, G = "
                         "microbatch_group: {}{}",
                         strategy.schedule, finding.message, where)});
  }
  return found;
}

/// What a file of slots does not go together with.
static void checkBeside(const models::Strategy &strategy,
                        schedules::Findings &findings) {
  if (strategy.microbatchGroup > 0)
    findings.push_back({"parameters", "microbatch_group is for schedules by "
                                      "name, a file has its order: leave it "
                                      "out"});
  if (strategy.chunks > 1 && strategy.mesh.stages() == 1)
    findings.push_back({"parameters", "chunks of one stage have nobody to send "
                                      "to: expected pp of 2 or more"});
}

/// All that is wrong with a schedule that was read; a deadlock too.
static models::Diagnostics checkRead(const models::Strategy &strategy,
                                     const schedules::Schedule &schedule) {
  schedules::Schedule anyOrder = schedule;
  anyOrder.anyOrder = true;
  schedules::Findings findings = schedules::checkSchedule(anyOrder);
  schedules::Findings halves = schedules::checkHalves(schedule);
  findings.insert(findings.end(), halves.begin(), halves.end());
  checkBeside(strategy, findings);
  models::Diagnostics wrong;
  for (const schedules::Finding &finding : findings)
    wrong.push_back({models::ErrorClass::infeasible, strategy.schedule, 0,
                     finding.message});
  return wrong;
}

static models::Diagnostics readFile(models::Strategy &strategy,
                                    ScheduleFiles &files) {
  if (!strategy.smallerGlobalBatches.empty())
    return {{models::ErrorClass::infeasible, strategy.schedule, 0,
             fmt::format("a file has the slots of one number of microbatches: "
                         "expected one global_batch_size, found {}; name a "
                         "schedule (mtc schedule list), or compile a bundle "
                         "for each",
                         fmt::join(strategy.globalBatches(), ", "))}};
  schedules::Params params = paramsOf(strategy);
  schedules::Schedule schedule;
  models::Diagnostics wrong = readScheduleFile(
      files, strategy.schedule, {params.p, params.m, params.v}, schedule);
  if (wrong.empty())
    wrong = checkRead(strategy, schedule);
  for (models::Diagnostic &each : wrong)
    each.message += fmt::format(" (pp = {}, {} microbatches, chunks = {})",
                                params.p, params.m, params.v);
  if (!wrong.empty())
    return wrong;
  for (const auto &slots : schedule.slots)
    strategy.scheduleSlots.push_back(
        schedules::printSlots(slots, schedule.chunks));
  strategy.schedule = "file"; // the plan does not depend on its name
  return {};
}

models::Diagnostics readSchedule(models::Strategy &strategy,
                                 ScheduleFiles &files) {
  return models::isScheduleFile(strategy.schedule) ? readFile(strategy, files)
                                                   : checkNamed(strategy);
}

models::Diagnostics readSchedule(models::Strategy &strategy) {
  ScheduleFiles files;
  return readSchedule(strategy, files);
}

} // namespace mtc::compiler
