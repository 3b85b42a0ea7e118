// Waiting for messages that do not come.
#include "runtime/comm/mpi/wire.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;
using namespace std::chrono_literals;

namespace {

int looks = 0, doneAt = 0;

int begin(const void *, int64_t, int, int, MpiRequest *) { return 0; }
int receive(void *, int64_t, int, int, MpiRequest *) { return 0; }
int test(MpiRequest *, int *done) {
  *done = doneAt > 0 && ++looks >= doneAt;
  return 0;
}

class Waits : public testing::Test {
protected:
  Waits() {
    looks = doneAt = 0;
    engine_.send = begin;
    engine_.receive = receive;
    engine_.test = test;
    EXPECT_TRUE(wire_.receive(&place_, 1, 0, 0, batch_).ok());
  }
  MpiEngine engine_ = {};
  comm::MpiWire wire_{engine_};
  comm::MpiBatch batch_;
  char place_ = 0;
};

TEST_F(Waits, EndWithTheMessage) {
  doneAt = 300;
  EXPECT_TRUE(wire_.await(batch_, 10s, nullptr).ok());
  EXPECT_EQ(looks, 300);
}

TEST_F(Waits, EndInTime) {
  Status status = wire_.await(batch_, 30ms, nullptr);
  EXPECT_EQ(status.code(), StatusCode::peerDied);
  EXPECT_EQ(status.message(), "no answer over MPI within 0 s");
}

TEST_F(Waits, EndWithASignal) {
  std::atomic<bool> stop{true};
  EXPECT_EQ(wire_.await(batch_, 10s, &stop).code(), StatusCode::interrupted);
}

} // namespace
