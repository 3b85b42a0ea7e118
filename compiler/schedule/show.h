//===- show.h - a schedule for people and programs --------------*- C++ -*-===//
#ifndef MTC_COMPILER_SCHEDULE_SHOW_H
#define MTC_COMPILER_SCHEDULE_SHOW_H

#include "compiler/schedule/request.h"
#include "passes/pipeline/schedules/figures.h"

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// What a schedule is called: its name, or "user schedule".
std::string titleOf(const RequestedSchedule &requested);

/// The drawing, a line per stage of its parts and of what it holds, and its
/// time beside the closed forms.
std::string showText(const RequestedSchedule &requested,
                     const schedules::Figures &figures);

/// The same as JSON; what has no closed form is null.
nlohmann::ordered_json showJson(const RequestedSchedule &requested,
                                const schedules::Figures &figures);

/// What was asked for as text or JSON and, where `svg` names a file, as a
/// picture in it. Errors: those of readRequest; writeFailed.
runtime::Status showSchedule(const ScheduleRequest &request, bool json,
                             const std::string &svg, std::string &text);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULE_SHOW_H
