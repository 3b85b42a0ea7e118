//===- request.cpp - which schedule somebody asks for ---------------------===//

#include "compiler/schedule/request.h"

#include "compiler/schedule/costs.h"
#include "compiler/schedule/file.h"
#include "models/nearest.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/draw.h"
#include "passes/pipeline/schedules/generators.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

constexpr int64_t mostSlots = 1'000'000; ///< of each phase, on all stages
constexpr int64_t mostLatency = 1'000'000'000;
constexpr int64_t mostDrawn = 2'000; ///< columns of a deadlock in an error

/// All lines, `what` before each.
Status joined(StatusCode code, const std::string &what,
              const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : "\n") + what + line;
  return {code, text};
}

std::vector<std::string> messagesOf(const schedules::Findings &findings) {
  std::vector<std::string> lines;
  for (const schedules::Finding &finding : findings)
    lines.push_back(finding.message);
  return lines;
}

Status checkSizes(const ScheduleRequest &request) {
  std::vector<std::string> wrong;
  auto want = [&](const char *option, int64_t value, int64_t most) {
    if (value > most)
      wrong.push_back(fmt::format("{}: expected at most {}, found {}", option,
                                  most, value));
  };
  want("--pp", request.stages, mostSlots);
  want("--microbatches", request.microbatches, mostSlots);
  want("--chunks", request.chunks, mostSlots);
  want("--group", request.group, mostSlots);
  want("--latency", request.latency, mostLatency);
  return wrong.empty() ? Status::okay() : joined(StatusCode::usage, "", wrong);
}

/// Four stages, eight microbatches, and the fewest chunks that are legal then.
schedules::Params withDefaults(const ScheduleRequest &request,
                               const schedules::Generator &generator) {
  schedules::Params params{4, 8, 1, 0};
  if (!generator.check(params).empty())
    params.v = 2;
  auto give = [](int &size, int64_t given) {
    if (given > 0)
      size = static_cast<int>(given);
  };
  give(params.p, request.stages);
  give(params.m, request.microbatches);
  give(params.v, request.chunks);
  bool hasGroups = generator.check({4, 8, 2, 4}).empty();
  if (hasGroups)
    params.G = schedules::defaultGroup(params);
  give(params.G, request.group);
  return params;
}

Status generate(const ScheduleRequest &request,
                const schedules::Generator &generator, RequestedSchedule &out) {
  schedules::Params params = withDefaults(request, generator);
  if (int64_t(params.p) * params.m > mostSlots / params.v)
    return {StatusCode::usage,
            fmt::format("schedule: expected at most {} stages times "
                        "microbatches times chunks, found {} x {} x {}",
                        mostSlots, params.p, params.m, params.v)};
  schedules::Findings findings;
  auto schedule = schedules::generate(generator.name, params, findings);
  if (!schedule)
    return joined(StatusCode::infeasible, std::string(generator.name) + ": ",
                  messagesOf(findings));
  out.schedule = std::move(*schedule);
  return Status::okay();
}

Status notFound(const std::string &name) {
  std::vector<std::string_view> names;
  for (const schedules::Generator &row : schedules::generators())
    names.push_back(row.name);
  return {StatusCode::inputRejected,
          fmt::format("{}: expected a schedule file or one of {}, found "
                      "neither{}",
                      name, models::join(names),
                      models::nearestName(name, names).empty()
                          ? ""
                          : models::suggestion(name, names))};
}

/// The stages of a deadlock one by one, and how far they got.
std::string explainCycle(const schedules::Schedule &schedule) {
  schedules::Costs unit{1, 1, 1, 1};
  schedules::Timing timing = schedules::asap(schedule, unit);
  std::string text = "stages wait for each other";
  for (const std::string &line : schedules::waitForCycle(schedule, timing))
    text += "\n  " + line;
  if (timing.makespan * schedule.stages > mostDrawn)
    return text;
  text += "\nbehind the ! of each stage is the slot that waits\n" +
          schedules::draw(schedule, unit);
  return text.substr(0, text.rfind("\ncannot"));
}

/// Findings that stand against running it; an order of sums, which is a class
/// of bits of its own, is a note, and so is what only the compiler does not
/// take.
Status checkLegal(const std::string &file, RequestedSchedule &out) {
  schedules::Findings findings = schedules::checkSchedule(out.schedule);
  std::vector<std::string> wrong;
  bool isIllegal = false;
  for (const schedules::Finding &finding : findings) {
    bool isOrder = finding.code == "accumulation-order";
    isIllegal |= !isOrder;
    wrong.push_back(finding.code == "cycle" ? explainCycle(out.schedule)
                                            : finding.message);
    if (isOrder)
      out.notes.push_back(finding.message);
  }
  for (const schedules::Finding &finding : schedules::checkHalves(out.schedule))
    out.notes.push_back("mtc compile does not take it: " + finding.message);
  return isIllegal ? joined(StatusCode::infeasible, file + ": ", wrong)
                   : Status::okay();
}

Status readFile(const ScheduleRequest &request, RequestedSchedule &out) {
  const std::string &file = request.nameOrFile;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return notFound(file);
  if (request.group > 0)
    return {StatusCode::usage,
            fmt::format("--group: expected the name of a schedule, found the "
                        "file {}, whose lines have the order themselves; "
                        "leave it out",
                        file)};
  auto given = [](int64_t size) {
    return size > 0 ? std::optional<int>(static_cast<int>(size)) : std::nullopt;
  };
  ScheduleFiles files;
  models::Diagnostics wrong =
      readScheduleFile(files, file,
                       {given(request.stages), given(request.microbatches),
                        given(request.chunks)},
                       out.schedule);
  if (!wrong.empty()) {
    std::vector<std::string> lines;
    for (const models::Diagnostic &each : wrong)
      lines.push_back(each.message);
    return joined(static_cast<StatusCode>(models::exitCode(wrong)), file + ": ",
                  lines);
  }
  return checkLegal(file, out);
}

} // namespace

Status readRequest(const ScheduleRequest &request, RequestedSchedule &out) {
  MTC_RETURN_IF_ERROR(readCosts(request.costs, out.costs));
  MTC_RETURN_IF_ERROR(checkSizes(request));
  out.latency = request.latency;
  if (const auto *generator = schedules::findGenerator(request.nameOrFile))
    return generate(request, *generator, out);
  return readFile(request, out);
}

} // namespace mtc::compiler
