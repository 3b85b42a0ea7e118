//===- user_schedule_test.cpp - random legal schedules --------------------===//
//
// Schedules that no generator makes: slots in any order that their dependences
// and the order of accumulation allow, B whole or split per stage, straight or
// folded placement. All must expand into plans that are legal and run.
//
//===----------------------------------------------------------------------===//

#include "interpreter.h"
#include "oracle.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/plan_check.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <gtest/gtest.h>
#include <random>

namespace mtc::schedules::test {
namespace {

class RandomSchedule {
public:
  RandomSchedule(const Shape &shape, std::mt19937 &random)
      : random_(random), schedule_{shape, "", 0, {}}, done_(shape.stages),
        accumulated_(shape.virtualStages(), 0) {
    schedule_.slots.resize(shape.stages);
    for (int stage = 0; stage < shape.stages; ++stage)
      splits_.push_back(random() % 2);
  }

  Schedule build() {
    for (;;) {
      std::vector<std::pair<int, Slot>> ready = readySlots();
      if (ready.empty())
        return schedule_;
      auto [stage, slot] = ready[random_() % ready.size()];
      schedule_.slots[stage].push_back(slot);
      done_[stage].insert(key(roleOf(slot.phase), slot));
      if (slot.phase == Phase::B || slot.phase == Phase::W)
        ++accumulated_[schedule_.virtualStage(stage, slot.chunk)];
    }
  }

private:
  using Key = std::tuple<Role, int, int>;

  static Key key(Role role, const Slot &slot) {
    return {role, slot.microbatch, slot.chunk};
  }

  bool canRun(int stage, const Slot &slot) const {
    if (done_[stage].contains(key(roleOf(slot.phase), slot)))
      return false;
    bool adds = slot.phase == Phase::B || slot.phase == Phase::W;
    int u = schedule_.virtualStage(stage, slot.chunk);
    if (adds && accumulated_[u] != slot.microbatch)
      return false;
    for (const Dependence &dep : dependences(schedule_, stage, slot))
      if (!done_[schedule_.stageOf(dep.u)].contains(
              {dep.role, dep.microbatch, schedule_.chunkOf(dep.u)}))
        return false;
    return true;
  }

  std::vector<std::pair<int, Slot>> readySlots() const {
    std::vector<std::pair<int, Slot>> ready;
    for (int stage = 0; stage < schedule_.stages; ++stage)
      for (Phase phase : {Phase::F, Phase::B, Phase::I, Phase::W}) {
        if (phase != Phase::F && (phase == Phase::B) == splits_[stage])
          continue;
        for (int k = 0; k < schedule_.microbatches; ++k)
          for (int c = 0; c < schedule_.chunks; ++c)
            if (canRun(stage, {phase, k, c}))
              ready.push_back({stage, {phase, k, c}});
      }
    return ready;
  }

  std::mt19937 &random_;
  Schedule schedule_;
  std::vector<bool> splits_;
  std::vector<std::set<Key>> done_;
  std::vector<int> accumulated_; ///< microbatches added per virtual stage
};

TEST(UserSchedules, RandomLegalOnesExpandAndRun) {
  std::mt19937 random(7);
  auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % (high - low + 1));
  };
  int local = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Shape shape{between(1, 5), between(1, 5), between(1, 3),
                trial % 2 ? Placement::Folded : Placement::Straight};
    Schedule schedule = RandomSchedule(shape, random).build();
    SCOPED_TRACE(printSchedule(schedule));
    ASSERT_EQ(render(checkSchedule(schedule)), "");
    std::optional<Outcome> first;
    for (int depth : {1, 2, unlimitedDepth}) {
      ExpandOptions options;
      options.depth = depth;
      options.costs = {between(1, 9), between(1, 9), between(1, 9),
                       between(1, 9)};
      options.grouping = static_cast<Grouping>(between(0, 2));
      options.overlap = between(0, 1);
      options.apart = between(0, 1);
      Findings findings;
      Plan plan = expand(schedule, options, findings).value();
      ASSERT_EQ(render(checkPlan(plan)), "") << printPlan(plan);
      ASSERT_EQ(render(verifyMachine(repeatSteps(machineOf(plan), 2))), "");
      Outcome outcome = interpret(plan, 2);
      if (!first)
        first = outcome;
      ASSERT_EQ(outcome.error, "");
      ASSERT_EQ(outcome, *first);
    }
    local += shape.placement == Placement::Folded && shape.chunks > 1;
  }
  EXPECT_GT(local, 50); // hand-overs on one rank were among them
}

} // namespace
} // namespace mtc::schedules::test
