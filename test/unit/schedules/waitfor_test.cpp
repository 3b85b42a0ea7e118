//===- waitfor_test.cpp - matching and wait-for graphs of machines --------===//

#include "passes/pipeline/schedules/waitfor.h"

#include "oracle.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

using Program = std::vector<MachineItem>;

MachineItem send(int peer, std::string tag = "t", int64_t bytes = 8) {
  return MachineItem::exchange({{true, peer, bytes, std::move(tag)}});
}

MachineItem receive(int peer, std::string tag = "t", int64_t bytes = 8) {
  return MachineItem::exchange({{false, peer, bytes, std::move(tag)}});
}

MachineItem call(int comm, std::string op = "all-reduce", int64_t count = 4,
                 std::string type = "f32") {
  return MachineItem::collect({comm, std::move(op), std::move(type), count});
}

std::string codes(const Machine &machine) {
  std::string text;
  for (const Finding &finding : verifyMachine(machine))
    text += (text.empty() ? "" : " ") + finding.code;
  return text;
}

TEST(VerifyMachine, AcceptsMatchedPrograms) {
  EXPECT_EQ(
      codes({{{send(1), call(0)}, {receive(0), call(0)}}, {{"world", {0, 1}}}}),
      "");
}

TEST(VerifyMachine, FindsWhatDoesNotMatch) {
  EXPECT_EQ(codes({{{send(1)}, {}}, {}}), "unpaired");
  EXPECT_EQ(codes({{{send(1, "a")}, {receive(0, "b")}}, {}}), "pair-order");
  EXPECT_EQ(codes({{{send(1, "a", 8)}, {receive(0, "a", 9)}}, {}}),
            "pair-size");
  EXPECT_EQ(codes({{{send(0)}, {}}, {}}), "peer");
  EXPECT_EQ(codes({{{send(2)}, {}}, {}}), "peer");
}

TEST(VerifyMachine, FindsCollectivesThatDiffer) {
  auto with = [](MachineItem a, MachineItem b) {
    return codes({{{a}, {b}}, {{"world", {0, 1}}}});
  };
  EXPECT_EQ(with(call(0), call(0)), "");
  EXPECT_EQ(with(call(0), call(0, "all-gather")), "collective-order");
  EXPECT_EQ(with(call(0), call(0, "all-reduce", 5)), "collective-size");
  EXPECT_EQ(with(call(0), call(0, "all-reduce", 4, "bf16")), "collective-type");
  EXPECT_EQ(with(call(0), MachineItem::compute("k")), "collective-count");
  EXPECT_EQ(with(call(0), call(1)), "members collective-count");
}

TEST(VerifyMachine, FindsWrongMembers) {
  EXPECT_EQ(codes({{{}, {}}, {{"twice", {0, 0}}}}), "members");
  EXPECT_EQ(codes({{{}, {}}, {{"beyond", {0, 2}}}}), "members");
  EXPECT_EQ(codes({{{}, {call(0)}}, {{"other", {0}}}}), "members");
}

TEST(VerifyMachine, BothSendFirst) {
  Machine machine{
      {{send(1, "a"), receive(1, "b")}, {send(0, "b"), receive(0, "a")}}, {}};
  WaitForResult waits = analyseWaits(machine, matchMachine(machine));
  ASSERT_EQ(waits.ranks.size(), 2u);
  EXPECT_EQ(waits.ranks[0].text, "rank 0 cannot end item 0 {Sa:1}, and only "
                                 "then begins item 1 {Rb:1}");
  EXPECT_EQ(waits.ranks[1].text, "rank 1 cannot end item 0 {Sb:0}, and only "
                                 "then begins item 1 {Ra:0}");
  EXPECT_EQ(waits.ranks[1].rank, 1);
  EXPECT_EQ(waits.ranks[1].unended, 0);
  EXPECT_EQ(waits.ranks[1].unbegun, 1);
  EXPECT_EQ(codes(machine), "cycle");
}

TEST(VerifyMachine, OneGroupSendsAndReceives) {
  MachineItem zero =
      MachineItem::exchange({{true, 1, 8, "a"}, {false, 1, 8, "b"}});
  MachineItem one =
      MachineItem::exchange({{true, 0, 8, "b"}, {false, 0, 8, "a"}});
  EXPECT_EQ(codes({{{zero}, {one}}, {}}), "");
}

// Every communicator is consistent, yet tensor groups {0,1} and {2,3} and two
// transfers wait for each other.
TEST(VerifyMachine, CycleAcrossCommunicators) {
  Machine machine{{{call(0), send(2)},
                   {send(3), call(0)},
                   {receive(0), call(1)},
                   {call(1), receive(1)}},
                  {{"tp0", {0, 1}}, {"tp1", {2, 3}}}};
  EXPECT_EQ(codes(machine), "cycle");
  WaitForResult waits = analyseWaits(machine, matchMachine(machine));
  EXPECT_EQ(waits.ranks.size(), 4u);
  EXPECT_EQ(waits.cycle.size(), 12u);
}

// Two communicators in opposite orders.
TEST(VerifyMachine, CommunicatorsInOppositeOrder) {
  Machine machine{{{call(0), call(1)}, {call(1), call(0)}},
                  {{"one", {0, 1}}, {"two", {0, 1}}}};
  EXPECT_EQ(codes(machine), "cycle");
}

TEST(WaitFor, LongestPathIsTheMakespan) {
  Machine machine{{{MachineItem::compute("k", 5), send(1)},
                   {receive(0), MachineItem::compute("k", 2),
                    MachineItem::collect({0, "all-reduce", "f32", 1}, 4)}},
                  {{"alone", {1}}}};
  Matching matching = matchMachine(machine);
  EXPECT_EQ(analyseWaits(machine, matching, 3).makespan, 5 + 3 + 2 + 4);
}

// A plan that never waits for a slot or a partner takes as long as its
// schedule.
TEST(WaitFor, MakespanOfSimplePlansIsThatOfTheSchedule) {
  for (std::string_view name : {"1f1b", "zb-h1"})
    for (int p = 1; p <= 4; ++p)
      for (int m = 1; m <= 6; ++m) {
        Schedule schedule = make(name, {p, m, 1, 0});
        Machine machine = machineOf(makePlan(schedule, 1));
        EXPECT_EQ(analyseWaits(machine, matchMachine(machine)).makespan,
                  asap(schedule, Costs{}).makespan);
      }
}

} // namespace
} // namespace mtc::schedules::test
