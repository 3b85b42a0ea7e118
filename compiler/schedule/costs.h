//===- costs.h - what slots take, as people write it ------------*- C++ -*-===//
#ifndef MTC_COMPILER_SCHEDULE_COSTS_H
#define MTC_COMPILER_SCHEDULE_COSTS_H

#include "passes/pipeline/schedules/asap.h"
#include "runtime/base/status.h"

#include <string>

namespace mtc::compiler {

/// Reads "F=1,B=2,I=1,W=1" over `costs`: any phases, each once, integers from 1
/// to 1,000,000,000 in any unit. Errors: usage, all words that are wrong.
runtime::Status readCosts(std::string_view text, schedules::Costs &costs);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULE_COSTS_H
