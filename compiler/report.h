//===- report.h - what a plan costs -----------------------------*- C++ -*-===//
#ifndef MTC_COMPILER_REPORT_H
#define MTC_COMPILER_REPORT_H

#include "compiler/plan.h"

#include <nlohmann/json.hpp>
#include <string>

namespace mtc::compiler {

/// The summary of a plan, computed from the rt IR: ranks, parameters, memory
/// per rank by arena, collectives and transfers of one training step by group,
/// the bubble. Bytes; numbers of one rank unless the name says `total`. It
/// depends on the plan only, so a bundle with it is repeatable.
nlohmann::ordered_json report(const BundlePlan &plan);

/// The same as text for people.
std::string reportText(const nlohmann::ordered_json &report);

} // namespace mtc::compiler
#endif // MTC_COMPILER_REPORT_H
