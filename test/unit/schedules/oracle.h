//===- oracle.h - cases of test/golden/schedules ----------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_SCHEDULES_ORACLE_H
#define MTC_TEST_UNIT_SCHEDULES_ORACLE_H

#include "passes/pipeline/schedules/expand.h"
#include "passes/pipeline/schedules/generators.h"
#include "passes/pipeline/schedules/plan_check.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace mtc::schedules::test {

using Json = nlohmann::json;

/// The `cases` of test/golden/schedules/<name>.json.
Json loadCases(const std::string &name);

/// p, m, v, G of a case; G is 0 when null or absent.
Params paramsOf(const Json &item);
Shape shapeOf(const Json &item);

/// `schedule p m v G` for messages of tests.
std::string nameOf(const Json &item);

/// The schedule that the case's `slots` spell.
Schedule userSchedule(const Json &item);

/// The plan that the case's `plan` spells; computations have no operands.
Plan parsePlan(const Json &item);

/// The plan that the case's `ranks` and pool `slots` spell, with operands.
Plan mutantPlan(const Json &item);

/// Checked parameters to a schedule; fails the test when rejected.
Schedule make(std::string_view name, const Params &params);

/// Expands and fails the test when rejected; 1024 bytes per transfer of a
/// chain.
Plan makePlan(const Schedule &schedule, int depth,
              Grouping grouping = Grouping::SameStamp, bool apart = false);

/// All legal settings of all named schedules with p <= maxP, m <= maxM,
/// v <= maxV.
struct Setting {
  std::string_view name;
  Params params;
};
std::vector<Setting> settings(int maxP, int maxM, int maxV);
std::string nameOf(const Setting &setting);

/// 1,024 bytes per transfer and direction.
inline const Crossings kilobyte = Crossings::chain(1024, 1024);

/// The depth that a case's text spells; "inf" is unlimited.
int depthOf(const std::string &text);

/// The different codes of findings.
std::set<std::string> codesOf(const Findings &findings);

} // namespace mtc::schedules::test
#endif // MTC_TEST_UNIT_SCHEDULES_ORACLE_H
