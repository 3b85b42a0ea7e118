//===- restarts_test.cpp - what a run that starts again leaves out --------===//

#include "runtime/control/restarts.h"

#include <gtest/gtest.h>

namespace mtc::runtime::test {
namespace {

TEST(Restarts, WhatIsDoneIsLeftOut) {
  Job job;
  job.dumps = {{"init", 0, "a"},   {"logits", 0, "b"}, {"grads", 3, "c"},
               {"params", 2, "d"}, {"params", 3, "e"}, {"grads", 4, "f"}};
  job.early.seconds = 100;
  leaveOutDone(job, 3, std::chrono::seconds(40));
  std::vector<std::string> left;
  for (const DumpOrder &dump : job.dumps)
    left.push_back(dump.file);
  // Step 3 may have ended before its parameters were written.
  EXPECT_EQ(left, (std::vector<std::string>{"e", "f"}));
  EXPECT_DOUBLE_EQ(job.early.seconds, 60);
  leaveOutDone(job, 3, std::chrono::hours(1));
  EXPECT_GT(job.early.seconds, 0) << "which would be no limit";
}

} // namespace
} // namespace mtc::runtime::test
