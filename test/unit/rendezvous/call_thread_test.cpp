//===- call_thread_test.cpp - calls that may never return -----------------===//

#include "runtime/comm/mpi/call_thread.h"

#include <gtest/gtest.h>

#include <thread>

using namespace mtc::runtime;

namespace {

constexpr std::chrono::milliseconds kShort{20};
constexpr std::chrono::minutes kLong{1};

TEST(CallThread, OneThreadMakesAllCalls) {
  CallThread calls;
  auto threads = std::make_shared<std::vector<std::thread::id>>();
  auto note = [threads] {
    threads->push_back(std::this_thread::get_id());
    return int(threads->size());
  };
  EXPECT_EQ(calls.call(note, kLong, nullptr), 1);
  EXPECT_EQ(calls.call(note, kLong, nullptr), 2);
  EXPECT_EQ((*threads)[0], (*threads)[1]);
  EXPECT_NE((*threads)[0], std::this_thread::get_id());
}

TEST(CallThread, ACallThatDoesNotReturnIsLeftAlone) {
  auto open = std::make_shared<std::atomic<bool>>(false);
  auto stay = [open] {
    while (!open->load())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0;
  };
  {
    CallThread calls, others;
    EXPECT_EQ(calls.call(stay, kShort, nullptr), std::nullopt);
    EXPECT_EQ(calls.call(stay, kLong, nullptr), std::nullopt);
    EXPECT_EQ(others.call(stay, kLong, [] { return true; }), std::nullopt);
  }
  open->store(true);
}

} // namespace
