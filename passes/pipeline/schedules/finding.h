//===- finding.h - what a check found ---------------------------*- C++ -*-===//
//
// Checks return all findings, not the first; no finding means accepted.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_FINDING_H
#define MTC_PASSES_PIPELINE_SCHEDULES_FINDING_H

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::schedules {

/// One broken rule. `code` is a stable word (for example `missing`, `cycle`);
/// `message` says where, what was found and what was expected.
struct Finding {
  std::string code;
  std::string message;
  int rank = -1, item = -1; ///< of a machine, where one item is to blame
};

using Findings = std::vector<Finding>;

/// True when a finding of class `code` is among `findings`.
inline bool hasCode(const Findings &findings, std::string_view code) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding &f) { return f.code == code; });
}

/// One line per finding, `code: message`.
inline std::string render(const Findings &findings) {
  std::string text;
  for (const Finding &f : findings)
    text += f.code + ": " + f.message + "\n";
  return text;
}

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_FINDING_H
