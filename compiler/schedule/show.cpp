//===- show.cpp - a schedule for people and programs ----------------------===//

#include "compiler/schedule/show.h"

#include "passes/pipeline/schedules/svg.h"
#include "runtime/base/file.h"

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

template <typename Number> Json orNull(const std::optional<Number> &number) {
  return number ? Json(*number) : Json(nullptr);
}

/// Slots and time of a part of a stage; no time where it has no slot.
Json partJson(const schedules::Timing &timing, int stage, size_t begin,
              size_t end) {
  Json json = {{"slots", end - begin}};
  if (begin < end) {
    json["begin"] = timing.start[stage][begin];
    json["end"] = timing.end[stage][end - 1];
  }
  return json;
}

Json stageJson(const RequestedSchedule &r, const schedules::Figures &figures,
               int stage) {
  const std::vector<schedules::Slot> &line = r.schedule.slots[stage];
  const schedules::StageFigures &f = figures.stages[stage];
  auto [steady, coolDown] = f.sections;
  auto part = [&](size_t begin, size_t end) {
    return partJson(figures.timing, stage, begin, end);
  };
  return {{"stage", stage},
          {"slots", schedules::printSlots(line, r.schedule.chunks)},
          {"starts", figures.timing.start[stage]},
          {"warm_up", part(0, steady)},
          {"steady_state", part(steady, coolDown)},
          {"cool_down", part(coolDown, line.size())},
          {"busy", f.busy},
          {"in_flight", f.inFlight},
          {"in_flight_closed_form", orNull(f.inFlightForm)},
          {"weight_gradients_waiting", f.waiting}};
}

} // namespace

Json showJson(const RequestedSchedule &r, const schedules::Figures &figures) {
  const schedules::Schedule &s = r.schedule;
  Json json = {{"schedule", s.name.empty() ? Json(nullptr) : Json(s.name)},
               {"stages", s.stages},
               {"microbatches", s.microbatches},
               {"chunks", s.chunks},
               {"group", s.group > 0 ? Json(s.group) : Json(nullptr)},
               {"costs",
                {{"F", r.costs.F},
                 {"B", r.costs.B},
                 {"I", r.costs.I},
                 {"W", r.costs.W}}},
               {"latency", r.latency},
               {"makespan", figures.makespan},
               {"bubble", figures.bubble},
               {"bubble_fraction", figures.bubbleFraction()},
               {"bubble_closed_form", orNull(figures.bubbleForm)},
               {"latency_closed_form", orNull(figures.latencyForm)},
               {"notes", r.notes},
               {"timelines", Json::array()}};
  for (int stage = 0; stage < s.stages; ++stage)
    json["timelines"].push_back(stageJson(r, figures, stage));
  return json;
}

Status showSchedule(const ScheduleRequest &request, bool json,
                    const std::string &svg, std::string &text) {
  RequestedSchedule r;
  MTC_RETURN_IF_ERROR(readRequest(request, r));
  schedules::Figures figures =
      schedules::figuresOf(r.schedule, r.costs, r.latency);
  std::string title = fmt::format("{}; bubble {:.1f} %", titleOf(r),
                                  100 * figures.bubbleFraction());
  if (!svg.empty())
    MTC_RETURN_IF_ERROR(runtime::writeTextFile(
        svg, schedules::drawSvg(r.schedule, r.costs, figures, title)));
  text = json ? showJson(r, figures).dump(2) + "\n" : showText(r, figures);
  return Status::okay();
}

} // namespace mtc::compiler
