//===- comm_thread_test.cpp - collectives beside the calling thread -------===//
//
// The doubles below let a collective end only once the calling thread has gone
// on: what passes here ran beside it, whatever the clock says.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/comm_thread.h"

#include "runtime/comm/threads/threads_world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

namespace mtc::runtime::test {
namespace {

constexpr int64_t kCompute = MTC_STREAM_COMPUTE, kComm = MTC_STREAM_COMM;

CollectiveCall callOf(int64_t count) {
  return {CollectiveKind::allReduce, MTC_GROUP_DP, MTC_SUM, MTC_F32, count};
}

/// A call of `count` n ends once the test has let n calls end.
class Gate final : public Communicator {
public:
  Status collective(const CollectiveCall &call, void *, SumReader *) override {
    std::unique_lock held(lock_);
    begun_ = call.count;
    changed_.notify_all();
    // Long enough for a loaded machine; only a wrong stream lets it pass.
    if (!changed_.wait_for(held, std::chrono::seconds(30),
                           [&] { return open_ >= call.count; }))
      return {StatusCode::hang, "nobody let the call end"};
    ended_.push_back(call.count);
    return call.count == failing ? Status(StatusCode::communication, "it fails")
                                 : Status::okay();
  }
  Status post(std::span<const MtcTransfer>) override { return Status::okay(); }
  Status wait(std::span<const MtcTransfer>) override { return Status::okay(); }
  void abort() override {}
  void finish() override {}
  void threadWakes() override { ++awake; }
  void threadSleeps() override { --awake; }
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return {};
  }

  void open(int64_t calls) {
    std::lock_guard held(lock_);
    open_ = calls;
    changed_.notify_all();
  }
  /// Returns once call n has begun.
  void awaitBegin(int64_t n) {
    std::unique_lock held(lock_);
    changed_.wait(held, [&] { return begun_ >= n; });
  }
  std::vector<int64_t> ended() {
    std::lock_guard held(lock_);
    return ended_;
  }

  int64_t failing = -1;
  std::atomic<int> awake{1};

private:
  std::mutex lock_;
  std::condition_variable changed_;
  int64_t open_ = 0, begun_ = 0;
  std::vector<int64_t> ended_;
};

class CommThreads : public testing::Test {
protected:
  void SetUp() override {
    Status status = thread.start();
    ASSERT_TRUE(status.ok()) << status.message();
    thread.use(gate);
  }
  void issue(int64_t n) {
    EXPECT_TRUE(thread.collective(callOf(n), nullptr).ok());
  }

  Gate gate; ///< outlives the thread
  CommThread thread;
};

TEST_F(CommThreads, RunBesideTheCallingThread) {
  issue(1);
  gate.awaitBegin(1); // it runs, and cannot end
  EXPECT_TRUE(gate.ended().empty());
  gate.open(1);
  thread.record(0, kComm);
  EXPECT_TRUE(thread.wait(0, kCompute).ok());
  EXPECT_EQ(gate.ended(), std::vector<int64_t>{1});
}

TEST_F(CommThreads, RunInTheOrderOfIssue) {
  std::vector<int64_t> expected(200); // more than there is room for at first
  std::iota(expected.begin(), expected.end(), 1);
  for (int64_t n : expected)
    issue(n);
  gate.open(200);
  EXPECT_TRUE(thread.finish().ok());
  EXPECT_EQ(gate.ended(), expected);
}

TEST_F(CommThreads, WaitForWhatTheEventStandsFor) {
  issue(1);
  thread.record(7, kComm);
  issue(2);
  gate.open(1);
  EXPECT_TRUE(thread.wait(7, kCompute).ok()); // call 2 cannot end yet
  EXPECT_EQ(gate.ended(), std::vector<int64_t>{1});
  gate.open(2);
  thread.record(7, kComm); // from now on it stands for both
  EXPECT_TRUE(thread.wait(7, kCompute).ok());
  EXPECT_EQ(gate.ended(), (std::vector<int64_t>{1, 2}));
}

TEST_F(CommThreads, EventsOfTheCallingThreadAreOver) {
  issue(1);
  thread.record(0, kCompute);
  EXPECT_TRUE(thread.wait(0, kComm).ok());
  EXPECT_TRUE(thread.wait(0, kCompute).ok());
  EXPECT_TRUE(thread.wait(9, kCompute).ok()) << "nobody recorded it";
  EXPECT_TRUE(gate.ended().empty());
  gate.open(1);
  EXPECT_TRUE(thread.finish().ok());
}

TEST_F(CommThreads, StopAtTheFirstFailure) {
  gate.failing = 2;
  for (int64_t n : {1, 2, 3})
    issue(n);
  thread.record(0, kComm);
  gate.open(3);
  EXPECT_EQ(thread.wait(0, kCompute).code(), StatusCode::communication);
  EXPECT_EQ(gate.ended(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(thread.collective(callOf(4), nullptr).code(),
            StatusCode::communication);
  EXPECT_EQ(thread.finish().message(), "it fails");
  EXPECT_EQ(gate.ended().size(), 2u);
}

TEST_F(CommThreads, SayWhoIsAwake) {
  EXPECT_EQ(gate.awake, 1);
  issue(1);
  EXPECT_EQ(gate.awake, 2);
  gate.open(1);
  EXPECT_TRUE(thread.finish().ok());
  while (gate.awake != 1) // the other one goes to sleep behind its last call
    std::this_thread::yield();
}

TEST_F(CommThreads, TellWhenCallsRan) {
  std::vector<TraceTime> times;
  thread.traceTo(&times);
  issue(1);
  gate.awaitBegin(1);
  int64_t meanwhile = traceNow();
  gate.open(1);
  EXPECT_TRUE(thread.finish().ok());
  thread.traceTo(nullptr);
  gate.open(2);
  issue(2);
  EXPECT_TRUE(thread.finish().ok());
  ASSERT_EQ(times.size(), 1u);
  EXPECT_LE(times[0].begin, meanwhile);
  EXPECT_GE(times[0].end, meanwhile);
}

/// Two ranks of a strict world, each with a thread of collectives.
class StrictRanks : public testing::Test {
protected:
  StrictRanks() : world(Mesh(1, 2, 1), {.strict = true}) {
    for (int rank = 0; rank < 2; ++rank) {
      comms[rank] = world.join(rank, {});
      EXPECT_TRUE(threads[rank].start().ok());
      threads[rank].use(*comms[rank]);
    }
  }

  /// Sums one number over both ranks.
  Status sum(int rank) {
    float value = 1;
    Status status = threads[rank].collective(callOf(1), &value);
    return status.ok() ? threads[rank].finish() : status;
  }

  ThreadsWorld world;
  std::unique_ptr<Communicator> comms[2];
  CommThread threads[2];
};

TEST_F(StrictRanks, AreNoDeadlockWhileOneComputes) {
  Status late;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    late = sum(1);
  });
  Status early = sum(0); // both of its threads wait meanwhile
  other.join();
  EXPECT_TRUE(early.ok()) << early.message();
  EXPECT_TRUE(late.ok()) << late.message();
}

TEST_F(StrictRanks, AreADeadlockWhenNoThreadOfARankRuns) {
  Status other;
  std::thread second([&] { other = comms[1]->barrier(); });
  Status first = sum(0); // of another group than the barrier
  second.join();
  EXPECT_EQ(first.code(), StatusCode::hang) << first.message();
  EXPECT_EQ(other.code(), StatusCode::hang) << other.message();
  EXPECT_NE(first.message().find("rank 0 waits in all-reduce"),
            std::string::npos)
      << first.message();
}

} // namespace
} // namespace mtc::runtime::test
