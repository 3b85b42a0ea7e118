//===- plan_check_test.cpp - plans that must be rejected
//-------------------===//

#include "interpreter.h"
#include "oracle.h"
#include "passes/pipeline/schedules/plan_check.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <gtest/gtest.h>
#include <set>

namespace mtc::schedules::test {
namespace {

const PlanCheckOptions noSlots{false};

/// The golden file lists the first mispaired transfers of a plan.
void expectMispaired(const Findings &findings, const Json &expected) {
  std::vector<std::string> found;
  for (const Finding &finding : findings)
    if (finding.code == "pair-order")
      found.push_back(finding.message);
  auto tag = [](const Json &t) {
    return t[0].get<std::string>() + t[1].dump() + "." + t[2].dump();
  };
  ASSERT_GE(found.size(), expected.size());
  EXPECT_EQ(found.empty(), expected.empty());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NE(found[i].find("sends " + tag(expected[i]["sends"])),
              std::string::npos)
        << found[i];
    EXPECT_NE(found[i].find("expects " + tag(expected[i]["expects"])),
              std::string::npos)
        << found[i];
  }
}

TEST(CheckPlan, GoldenNegatives) {
  int controls = 0;
  for (const Json &item : loadCases("negative_plans")) {
    SCOPED_TRACE(nameOf(item));
    Findings findings = checkPlan(parsePlan(item), noSlots);
    std::set<std::string> expected = item["codes"];
    EXPECT_EQ(codesOf(findings), expected) << render(findings);
    expectMispaired(findings, item["mispaired"]);
    controls += expected.empty();
  }
  EXPECT_EQ(controls, 2);
}

TEST(CheckPlan, GoldenShortestCycles) {
  int cycles = 0;
  for (const Json &item : loadCases("negative_plans")) {
    SCOPED_TRACE(nameOf(item));
    Machine machine = machineOf(parsePlan(item));
    WaitForResult waits = analyseWaits(machine, matchMachine(machine));
    EXPECT_EQ(waits.acyclic, item["cycle"].is_null());
    if (waits.acyclic)
      continue;
    EXPECT_EQ(Json(waits.cycle), item["cycle"]);
    ++cycles;
  }
  EXPECT_EQ(cycles, 11);
}

TEST(CheckPlan, GoldenMutants) {
  std::set<std::string> seen;
  for (const Json &item : loadCases("negative_mutants")) {
    SCOPED_TRACE(nameOf(item));
    Findings findings = checkPlan(mutantPlan(item));
    EXPECT_TRUE(hasCode(findings, item["code"].get<std::string>()))
        << item["code"] << "\n"
        << render(findings);
    seen.insert(item["code"]);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"transfer-set", "duplicate", "missing",
                                         "range", "order", "accumulation-order",
                                         "wrong-value", "pair-order",
                                         "pair-size", "peer", "slot-range",
                                         "operands", "group-hazard", "cycle"}));
}

TEST(CheckPlan, RoutesToAWrongStageArePeers) {
  Plan plan = makePlan(make("gpipe", {3, 1, 1, 0}), 1);
  std::get<Exchange>(plan.ranks[0][1]).transfers[0].peer = 2;
  Findings findings = checkPlan(plan);
  EXPECT_EQ(codesOf(findings), (std::set<std::string>{"peer", "unpaired"}));
}

TEST(CheckPlan, BothSidesOfAWrongSize) {
  Plan plan = makePlan(make("gpipe", {2, 1, 1, 0}), 1);
  plan.crossings = Crossings::chain(512, 1024);
  EXPECT_EQ(codesOf(checkPlan(plan)), (std::set<std::string>{"pair-size"}));
}

TEST(CheckPlan, NeedsPoolSizesOfAllRanks) {
  Plan plan = makePlan(make("gpipe", {2, 1, 1, 0}), 1);
  plan.pools.pop_back();
  EXPECT_TRUE(hasCode(checkPlan(plan), "slot-range"));
  plan.ranks.pop_back();
  EXPECT_TRUE(hasCode(checkPlan(plan), "timeline-count"));
}

} // namespace
} // namespace mtc::schedules::test
