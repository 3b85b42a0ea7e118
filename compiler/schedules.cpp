//===- schedules.cpp - the schedules that mtc knows -----------------------===//

#include "compiler/schedules.h"

#include "passes/pipeline/schedules/generators.h"

namespace mtc::compiler {

std::vector<ScheduleInfo> allSchedules() {
  std::vector<ScheduleInfo> all;
  for (const schedules::Generator &row : schedules::generators())
    all.push_back({std::string(row.name),
                   row.use == schedules::Use::Training ? "train" : "eval",
                   std::string(row.what), std::string(row.lacks)});
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

} // namespace mtc::compiler
