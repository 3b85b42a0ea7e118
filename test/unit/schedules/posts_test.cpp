//===- posts_test.cpp - posts and waits of machines -----------------------===//

#include "oracle.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

MachineItem exchange(Part part, bool send, int peer, std::string tag = "t") {
  return MachineItem::exchange({{send, peer, 8, std::move(tag)}}, part);
}
MachineItem post(bool send, int peer, std::string tag = "t") {
  return exchange(Part::Post, send, peer, std::move(tag));
}
MachineItem wait(bool send, int peer, std::string tag = "t") {
  return exchange(Part::Wait, send, peer, std::move(tag));
}

std::string textOf(const Machine &machine) {
  return render(verifyMachine(machine));
}

// A stage works on between a post and its wait, in whole and posted exchanges.
TEST(Posts, MeetWholeExchanges) {
  EXPECT_EQ(textOf({{{post(true, 1), wait(true, 1)},
                     {exchange(Part::Whole, false, 0)}},
                    {}}),
            "");
  EXPECT_EQ(textOf({{{post(true, 1, "a"), post(false, 1, "b"),
                      wait(false, 1, "b"), wait(true, 1, "a")},
                     {post(true, 0, "b"), post(false, 0, "a"),
                      wait(false, 0, "a"), wait(true, 0, "b")}},
                    {}}),
            "");
}

TEST(Posts, AreWaitedForOnce) {
  EXPECT_EQ(
      textOf({{{post(true, 1)}, {exchange(Part::Whole, false, 0)}}, {}}),
      "unwaited: rank 0 item 0: posts the send of t to rank 1, expected a "
      "wait for it in the same step, found none\n");
  EXPECT_EQ(textOf({{{wait(false, 1)}, {}}, {}}),
            "unposted: rank 0 item 0: waits for the receive of t from rank 1, "
            "expected one that is posted\n");
  EXPECT_EQ(textOf({{{post(true, 1), post(true, 1), wait(true, 1)},
                     {exchange(Part::Whole, false, 0),
                      exchange(Part::Whole, false, 0)}},
                    {}}),
            "posted-twice: rank 0 item 1: the send of t to rank 1 is posted, "
            "expected a wait for it before it is posted again\n");
}

// Each number comes twice: the second time nothing more is said.
TEST(Posts, AreNoMoreThanBackendsHaveRoomFor) {
  auto machine = [](int count) {
    Machine made{{{}, {}}, {}};
    for (Part part : {Part::Post, Part::Wait, Part::Post, Part::Wait})
      for (int n = 0; n < count; ++n) {
        made.ranks[0].push_back(exchange(part, true, 1, std::to_string(n)));
        made.ranks[1].push_back(exchange(part, false, 0, std::to_string(n)));
      }
    return textOf(made);
  };
  EXPECT_EQ(machine(MTC_MOST_POSTED), "");
  EXPECT_EQ(machine(MTC_MOST_POSTED + 1),
            "posted-limit: rank 0 item 4096: the send of 4096 to rank 1 is one "
            "more than the 4096 transfers of a channel that may be begun and "
            "not ended; expected fewer microbatches in a row of one chunk\n"
            "posted-limit: rank 1 item 4096: the receive of 4096 from rank 0 "
            "is one more than the 4096 transfers of a channel that may be "
            "begun and not ended; expected fewer microbatches in a row of one "
            "chunk\n");
}

// Each waits for what the other posts behind its own wait.
TEST(Posts, WaitsThatCrossAreACycle) {
  EXPECT_EQ(
      textOf({{{post(false, 1, "b"), wait(false, 1, "b"), post(true, 1, "a"),
                wait(true, 1, "a")},
               {post(false, 0, "a"), wait(false, 0, "a"), post(true, 0, "b"),
                wait(true, 0, "b")}},
              {}}),
      "cycle: ranks wait for each other: rank 1 cannot end item 1 wait{Ra:0}, "
      "and only then begins item 2 post{Sb:0}; rank 0 cannot end item 1 "
      "wait{Rb:1}, and only then begins item 2 post{Sa:1}; shortest cycle: "
      "x 0->1 a -> r1:begin#1wait{Ra:0} -> r1:begin#2post{Sb:0} -> x 1->0 b -> "
      "r0:begin#1wait{Rb:1} -> r0:begin#2post{Sa:1}\n");
}

// Two values of a channel, posted in another order than they are sent in.
TEST(Posts, MeetInTheOrderOfTheirChannel) {
  EXPECT_EQ(textOf({{{post(true, 1, "a"), post(true, 1, "b"),
                      wait(true, 1, "b"), wait(true, 1, "a")},
                     {post(false, 0, "a"), post(false, 0, "b"),
                      wait(false, 0, "a"), wait(false, 0, "b")}},
                    {}}),
            "");
  EXPECT_EQ(
      textOf({{{post(true, 1, "a"), post(true, 1, "b"), wait(true, 1, "a"),
                wait(true, 1, "b")},
               {post(false, 0, "b"), post(false, 0, "a"), wait(false, 0, "a"),
                wait(false, 0, "b")}},
              {}}),
      "pair-order: transfer 0 of channel 0 -> 1: rank 0 sends a (item 0) where "
      "rank 1 expects b (item 0)\n"
      "pair-order: transfer 1 of channel 0 -> 1: rank 0 sends b (item 1) where "
      "rank 1 expects a (item 1)\n");
}

} // namespace
} // namespace mtc::schedules::test
