//===- text.h - what lint found, for people ---------------------*- C++ -*-===//
#ifndef MTC_COMPILER_LINT_TEXT_H
#define MTC_COMPILER_LINT_TEXT_H

#include "models/repair.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mtc::compiler {

/// Broken rules as an error, a line each, with what would keep them; then the
/// strategies that keep all, from `nearest` of the report.
std::string violationText(const std::vector<models::Violation> &violations,
                          const std::vector<models::Remedies> &remedies,
                          const nlohmann::ordered_json &report);

/// A report of a strategy that was planned: memory of each stage, and what
/// would fit. Empty of others, whose errors say all.
std::string lintText(const nlohmann::ordered_json &report);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINT_TEXT_H
