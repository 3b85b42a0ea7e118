//===- restarts_test.cpp - what a run that goes on leaves out -------------===//

#include "runtime/control/past_orders.h"
#include "runtime/control/seat.h"

#include <gtest/gtest.h>

namespace mtc::runtime::test {
namespace {

using Texts = std::vector<std::string>;

TEST(Plans, ASharedObjectOfAnotherPlanIsRejected) {
  const std::string path = std::string(FAKE_DIR) + "/fake_pp1.so";
  Job job;
  Program program;
  ASSERT_TRUE(openStage(path, job, program).ok()); // an older mtc says none
  job.plan = "00112233445566ff";
  Status status = openStage(path, job, program);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("expected plan " + job.plan),
            std::string::npos)
      << status.message();
}

TEST(PastOrders, DumpsAreLeftOutAndNamed) {
  Job job;
  job.dumps = {{"init", 0, "a"},   {"logits", 0, "b"}, {"grads", 3, "c"},
               {"params", 2, "d"}, {"params", 3, "e"}, {"grads", 4, "f"}};
  EXPECT_EQ(leaveOutPast(job, 3),
            (Texts{"the dump init ('a')", "the dump logits ('b')",
                   "the dump grads@3 ('c')", "the dump params@2 ('d')"}));
  Texts left;
  for (const DumpOrder &dump : job.dumps)
    left.push_back(dump.file);
  // Step 3 may have ended before its parameters were written.
  EXPECT_EQ(left, (Texts{"e", "f"}));
  EXPECT_EQ(leaveOutPast(job, 3), Texts{});
}

TEST(PastOrders, OfATraceTheStepsThatAreLeftStay) {
  Job job;
  job.trace = {2, 6, "t"};
  EXPECT_EQ(leaveOutPast(job, 1), Texts{});
  EXPECT_EQ(leaveOutPast(job, 4), Texts{"the trace of steps 2 to 4 ('t')"});
  EXPECT_EQ(job.trace.first, 5);
  EXPECT_EQ(leaveOutPast(job, 6), Texts{"the trace of steps 5 to 6 ('t')"});
  EXPECT_EQ(job.trace.first, 0);
  EXPECT_TRUE(job.trace.file.empty());
}

TEST(PastOrders, ATraceFromTheStartBeginsBehindIt) {
  Job job;
  job.trace = {1, 6, "t"};
  job.trace.fromStart = true;
  EXPECT_EQ(leaveOutPast(job, 4), Texts{});
  EXPECT_EQ(job.trace.first, 5);
  EXPECT_EQ(leaveOutPast(job, 6).size(), 1u);
  EXPECT_EQ(job.trace.first, 0);
}

TEST(PastOrders, WhatIsLoadedFromElsewhereIsTheBeginning) {
  Job job;
  job.checkpoints.start.step = 3;
  job.dumps = {{"init", 0, "a"}, {"params", 3, "e"}};
  EXPECT_TRUE(checkNonePast(job).ok());
  job.dumps.push_back({"grads", 3, "c"});
  EXPECT_EQ(checkNonePast(job).message(),
            "--dump grads@3: the run goes on behind step 3; name a later one");
  job.dumps.clear();
  job.trace = {2, 3, "t"};
  EXPECT_EQ(checkNonePast(job).message(),
            "the trace 't' is of steps 2 to 3, and the run goes on behind step "
            "3; name a later one");
}

TEST(Restarts, HaveWhatIsLeftOfTheirTime) {
  EarlyEnd early;
  early.spend(std::chrono::seconds(40));
  EXPECT_EQ(early.seconds, 0) << "which is no limit";
  early.seconds = 100;
  early.spend(std::chrono::seconds(40));
  EXPECT_DOUBLE_EQ(early.seconds, 60);
  early.spend(std::chrono::hours(1));
  EXPECT_GT(early.seconds, 0) << "which would be no limit";
}

} // namespace
} // namespace mtc::runtime::test
