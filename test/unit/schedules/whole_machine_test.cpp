//===- whole_machine_test.cpp - pipelines with tensor and data groups -----===//
//
// Every slot stands for its collective of the tensor group; after the last
// backward of a chunk comes its reduction over the data group; after all
// transfers the embedding, norm and parameter collectives. Projections of one
// order stay free of cycles.
//
//===----------------------------------------------------------------------===//

#include "oracle.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

/// Where the embedding all-reduce {first, last stage} stands.
enum class Embedding { AtTheEnd, AfterTheLastBackward };

class Builder {
public:
  Builder(const Plan &plan, int tp, int dp, Embedding embedding)
      : plan_(plan), tp_(tp), dp_(dp), embedding_(embedding) {}

  Machine build() {
    for (int stage = 0; stage < plan_.stages; ++stage)
      for (int d = 0; d < dp_; ++d)
        for (int t = 0; t < tp_; ++t)
          machine_.ranks.push_back(program(stage, d, t));
    return std::move(machine_);
  }

private:
  int rank(int stage, int d, int t) const {
    return t + tp_ * (d + dp_ * stage);
  }

  MachineItem call(const std::string &name, std::vector<int> members,
                   const char *op) {
    auto [it, fresh] =
        ids_.try_emplace(name, int(machine_.communicators.size()));
    if (fresh)
      machine_.communicators.push_back({name, members});
    return MachineItem::collect({it->second, op, "f32", 16}, 1);
  }

  MachineItem tensorCall(int stage, int d) {
    std::vector<int> members;
    for (int t = 0; t < tp_; ++t)
      members.push_back(rank(stage, d, t));
    return call("tp" + std::to_string(members[0]), members, "all-reduce");
  }

  MachineItem dataCall(int stage, int t, const char *op) {
    std::vector<int> members;
    for (int d = 0; d < dp_; ++d)
      members.push_back(rank(stage, d, t));
    return call("dp" + std::to_string(members[0]), members, op);
  }

  MachineItem embeddingCall(int d, int t) {
    int first = rank(0, d, t), last = rank(plan_.stages - 1, d, t);
    return call("embedding" + std::to_string(first), {first, last},
                "all-reduce");
  }

  MachineItem normCall() {
    std::vector<int> all;
    for (int r = 0; r < plan_.stages * dp_ * tp_; ++r)
      all.push_back(r);
    return call("world", all, "all-reduce");
  }

  bool holdsEmbedding(int stage) const {
    return plan_.stages > 1 && (stage == 0 || stage == plan_.stages - 1);
  }

  std::vector<MachineItem> program(int stage, int d, int t) {
    std::vector<MachineItem> items;
    std::map<int, int> left; // weight gradients to come, per chunk
    int total = 0;
    for (const Item &item : plan_.ranks[stage])
      if (addsGradient(item))
        ++left[std::get<Compute>(item).slot.chunk], ++total;
    for (const Item &item : plan_.ranks[stage]) {
      if (const Exchange *exchange = std::get_if<Exchange>(&item)) {
        items.push_back(exchangeOf(*exchange, d, t));
        continue;
      }
      items.push_back(MachineItem::compute("k", 1));
      if (tp_ > 1)
        items.push_back(tensorCall(stage, d));
      if (!addsGradient(item))
        continue;
      if (--left[std::get<Compute>(item).slot.chunk] == 0 && dp_ > 1)
        items.push_back(dataCall(stage, t, "reduce-scatter"));
      if (--total == 0 && holdsEmbedding(stage) &&
          embedding_ == Embedding::AfterTheLastBackward)
        items.push_back(embeddingCall(d, t));
    }
    if (holdsEmbedding(stage) && embedding_ == Embedding::AtTheEnd)
      items.push_back(embeddingCall(d, t));
    items.push_back(normCall());
    if (dp_ > 1)
      items.push_back(dataCall(stage, t, "all-gather"));
    return items;
  }

  static bool addsGradient(const Item &item) {
    const Compute *compute = std::get_if<Compute>(&item);
    return compute &&
           (compute->slot.phase == Phase::B || compute->slot.phase == Phase::W);
  }

  MachineItem exchangeOf(const Exchange &exchange, int d, int t) const {
    std::vector<MachineTransfer> transfers;
    for (const Transfer &x : exchange.transfers)
      transfers.push_back({x.send, rank(x.peer, d, t), x.bytes, tagOf(x)});
    return MachineItem::exchange(std::move(transfers));
  }

  const Plan &plan_;
  int tp_, dp_;
  Embedding embedding_;
  Machine machine_;
  std::map<std::string, int> ids_;
};

TEST(WholeMachine, TwoStepsHaveNoCycle) {
  int machines = 0;
  for (const Setting &setting : settings(5, 6, 2))
    for (int depth : {1, 2, unlimitedDepth}) {
      Schedule schedule = make(setting.name, setting.params);
      for (Grouping grouping : {Grouping::SameStamp, Grouping::WholeGap}) {
        Plan plan = makePlan(schedule, depth, grouping);
        for (int tp = 1; tp <= 2; ++tp)
          for (int dp = 1; dp <= 2; ++dp, ++machines) {
            Machine machine =
                Builder(plan, tp, dp, Embedding::AtTheEnd).build();
            ASSERT_EQ(render(verifyMachine(repeatSteps(machine, 2))), "")
                << nameOf(setting) << " d=" << depth << " tp=" << tp
                << " dp=" << dp;
          }
      }
    }
  EXPECT_GT(machines, 1000);
}

// verify-plan looks at one rank per stage and one step only. Programs that are
// wrong in any way, but alike on all ranks of a stage, are rejected so too, and
// no others are: exchanges swapped with their neighbour or left out.
TEST(WholeMachine, OneRankPerStageAndOneStepTellTheSame) {
  int sound = 0, wrong = 0;
  auto compare = [&](const Plan &plan, Embedding embedding) {
    Machine small = Builder(plan, 1, 1, embedding).build();
    Machine large = Builder(plan, 2, 2, embedding).build();
    // Builder gives a stage without replicas fewer collectives, none of which
    // joins stages.
    bool rejected = !verifyMachine(small).empty();
    ASSERT_EQ(rejected, !verifyMachine(repeatSteps(large, 2)).empty());
    ++(rejected ? wrong : sound);
  };
  for (const Setting &setting : settings(3, 4, 2)) {
    Plan plan = makePlan(make(setting.name, setting.params), 2);
    for (Embedding embedding :
         {Embedding::AtTheEnd, Embedding::AfterTheLastBackward}) {
      compare(plan, embedding);
      for (size_t stage = 0; stage < plan.ranks.size(); ++stage)
        for (size_t i = 0; i + 1 < plan.ranks[stage].size(); ++i) {
          Plan swapped = plan, dropped = plan;
          std::swap(swapped.ranks[stage][i], swapped.ranks[stage][i + 1]);
          compare(swapped, embedding);
          if (!std::holds_alternative<Exchange>(plan.ranks[stage][i]))
            continue;
          dropped.ranks[stage].erase(dropped.ranks[stage].begin() +
                                     static_cast<std::ptrdiff_t>(i));
          compare(dropped, embedding);
        }
    }
  }
  EXPECT_GT(sound, 200);
  EXPECT_GT(wrong, 200);
}

// The last stage waits in the embedding all-reduce before it has sent the
// gradient that the first stage needs to get there: p=2, m=1.
TEST(WholeMachine, EmbeddingBeforeTheGradientIsSent) {
  Plan plan = makePlan(make("1f1b", {2, 1, 1, 0}), 2);
  for (int tp = 1; tp <= 2; ++tp) {
    Machine machine =
        Builder(plan, tp, 1, Embedding::AfterTheLastBackward).build();
    Findings findings = verifyMachine(machine);
    EXPECT_TRUE(hasCode(findings, "cycle"));
    EXPECT_NE(render(findings).find("all-reduce on embedding0"),
              std::string::npos)
        << render(findings);
  }
}

} // namespace
} // namespace mtc::schedules::test
