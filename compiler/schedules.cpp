//===- schedules.cpp - the schedules that mtc knows -----------------------===//

#include "compiler/schedules.h"

#include "passes/pipeline/schedules/generators.h"

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
                   std::string(row.what), needsChunks(row),
                   std::string(row.lacks)});
  return all;
}

models::ScheduleNames scheduleNames() {
  return {schedules::trainingNames(/*compiles=*/true),
          schedules::trainingNames(/*compiles=*/false)};
}

std::string resolveSchedule(models::Strategy &strategy) {
  if (strategy.schedule.empty())
    strategy.schedule = schedules::defaultTraining;
  return schedules::whyNotTrained(strategy.schedule);
}

static schedules::Params paramsOf(const models::Strategy &strategy) {
  return {static_cast<int>(strategy.mesh.stages()),
          static_cast<int>(strategy.microbatches()),
          static_cast<int>(strategy.chunks),
          static_cast<int>(strategy.microbatchGroup)};
}

std::vector<std::string> brokenScheduleRules(const models::Strategy &strategy) {
  std::vector<std::string> sentences;
  const schedules::Generator *row = schedules::findGenerator(strategy.schedule);
  if (!row)
    return sentences;
  for (const schedules::Finding &finding : row->check(paramsOf(strategy)))
    sentences.push_back(fmt::format(
        "schedule '{}' of p = pp, m = microbatches, v = chunks, G = "
        "microbatch_group: {}",
        strategy.schedule, finding.message));
  return sentences;
}

} // namespace mtc::compiler
