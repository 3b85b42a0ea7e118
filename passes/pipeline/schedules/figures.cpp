//===- figures.cpp - what a schedule costs and holds ----------------------===//

#include "passes/pipeline/schedules/figures.h"

namespace mtc::schedules {
namespace {

Params paramsOf(const Schedule &schedule) {
  return {schedule.stages, schedule.microbatches, schedule.chunks,
          schedule.group};
}

bool isForward(const Slot &slot) { return slot.phase == Phase::F; }

/// Forwards before the first slot that is none.
size_t leadOf(const std::vector<Slot> &line) {
  size_t lead = 0;
  while (lead < line.size() && isForward(line[lead]))
    ++lead;
  return lead;
}

/// Behind the last forward at `last`: its backward and the weight gradients
/// up to the next backward.
size_t endOfPair(const std::vector<Slot> &line, size_t last) {
  size_t end = last + 1;
  for (int backwards = 0; end < line.size(); ++end) {
    backwards += roleOf(line[end].phase) == Role::Backward;
    if (backwards == 2)
      break;
  }
  return end;
}

StageFigures stageFigures(const Schedule &schedule, int stage,
                          const Costs &costs, const Generator *generator) {
  StageFigures figures;
  figures.sections = sectionsOf(schedule, stage);
  for (const Slot &slot : schedule.slots[stage])
    figures.busy += costs.of(slot.phase);
  figures.inFlight =
      mostBetween(schedule, stage, Role::Forward, Role::Backward);
  figures.waiting = mostBetween(schedule, stage, Role::Backward, Role::Weight);
  if (generator)
    figures.inFlightForm = generator->inFlight(paramsOf(schedule), stage);
  return figures;
}

} // namespace

Sections sectionsOf(const Schedule &schedule, int stage) {
  const std::vector<Slot> &line = schedule.slots[stage];
  size_t lead = leadOf(line), last = line.size();
  while (last > 0 && !isForward(line[last - 1]))
    --last;
  bool turns = last > lead; // a forward comes behind a backward
  size_t warmup = turns ? lead - 1 : lead;
  if (const Generator *generator = findGenerator(schedule.name))
    warmup = generator->warmup(paramsOf(schedule), stage);
  if (warmup == last)
    return {last, last};
  return {warmup, endOfPair(line, last - 1)};
}

Figures figuresOf(const Schedule &schedule, const Costs &costs,
                  int64_t latency) {
  Figures figures;
  figures.timing = asap(schedule, costs, latency);
  figures.makespan = figures.timing.makespan;
  figures.bubble = figures.makespan - idealTime(schedule, costs);
  figures.generator = findGenerator(schedule.name);
  for (int stage = 0; stage < schedule.stages; ++stage)
    figures.stages.push_back(
        stageFigures(schedule, stage, costs, figures.generator));
  if (!figures.generator)
    return figures;
  if (figures.generator->bubble)
    figures.bubbleForm = figures.generator->bubble(paramsOf(schedule), costs);
  if (figures.generator->latencyFactor)
    figures.latencyForm = figures.generator->latencyFactor(paramsOf(schedule));
  return figures;
}

} // namespace mtc::schedules
