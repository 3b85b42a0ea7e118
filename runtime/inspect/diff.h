//===- diff.h - what two plans say differently ------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_DIFF_H
#define MTC_RUNTIME_INSPECT_DIFF_H

#include "runtime/inspect/plan_facts.h"

#include <optional>

namespace mtc::runtime {

/// What one says and the other does not, or says differently; a side that does
/// not say it has none.
struct PlanDifference {
  std::string part, name;
  std::optional<Json> a, b;
};

/// All facts of two plans that differ, in the order of `a`; what only `b` says
/// is behind the last fact of the same part.
std::vector<PlanDifference> differences(const std::vector<PlanFact> &a,
                                        const std::vector<PlanFact> &b);

/// A bundle that is compared.
struct ComparedBundle {
  std::string folder, planHash;
};

/// Tables of two columns under the names of parts. Layers whose facts differ in
/// the same way are one row.
std::string diffText(const ComparedBundle &a, const ComparedBundle &b,
                     const std::vector<PlanDifference> &rows);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_DIFF_H
