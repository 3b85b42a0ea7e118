//===- mixed_test.cpp - long sequences with ranks out of step -------------===//

#include "sums.h"
#include "values.h"
#include "worlds.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

using namespace mtc;
using namespace mtc::test;

namespace {

constexpr int kOperations = 200;
constexpr int64_t kMixedArena = 2 << 20;

/// What all ranks draw alike: the operations.
struct Draw {
  MtcGroup group;
  int operation;
  MtcDtype dtype;
  int64_t count;
};

Draw draw(std::mt19937 &shared) {
  const int64_t counts[] = {1, 5, 300, 1025, 7000};
  const MtcDtype dtypes[] = {MTC_F32, MTC_BF16, MTC_F16, MTC_I128};
  Draw d;
  d.group = MtcGroup(shared() % MTC_GROUP_COUNT);
  d.operation = int(shared() % 5);
  d.dtype = dtypes[shared() % std::size(dtypes)];
  d.count = counts[shared() % 5];
  return d;
}

/// Sends to the next stage, receives from the previous one, in one group.
std::string shift(Rank &r, uint64_t salt, int64_t count) {
  int stages = int(r.mesh.stages());
  int stage = int(r.mesh.coordinate(r.rank, MTC_AXIS_PP));
  int next = (stage + 1) % stages, previous = (stage + stages - 1) % stages;
  fill(MTC_I32, r.rank, 0, count, salt, r.arena(MTC_ARENA_ACTIVATIONS));
  MtcTransfer group[] = {
      {1, next, MTC_ARENA_ACTIVATIONS, int32_t(salt), 0, 4 * count},
      {0, previous, MTC_ARENA_WORKSPACE, int32_t(salt), 0, 4 * count}};
  MTC_EXPECT_OK(r.comm.exchange(group));
  return checkCopied(MTC_I32, r.mesh.moved(r.rank, MTC_AXIS_PP, previous), 0,
                     count, salt, r.arena(MTC_ARENA_WORKSPACE));
}

std::string perform(Rank &r, const Draw &d, uint64_t salt) {
  std::vector<int> members = r.mesh.members(r.rank, d.group);
  char *buffer = r.arena(MTC_ARENA_GRADS);
  int64_t size = int64_t(members.size()), width = widthOf(d.dtype);
  int64_t self = std::ranges::find(members, r.rank) - members.begin();
  if (d.operation == 3)
    return shift(r, salt, d.count);
  if (d.operation == 4) {
    MTC_EXPECT_OK(r.comm.barrier());
    return "";
  }
  bool isSum = d.operation < 2;
  if (members.empty() || (isSum && d.dtype == MTC_I128 && !r.addsInRankOrder))
    return "";
  fill(d.dtype, r.rank, 0, d.count * size, salt, buffer);
  if (d.operation == 0) {
    MTC_EXPECT_OK(r.comm.allReduce(d.group, MTC_SUM, d.dtype, buffer, d.count));
    return checkSum(r, MTC_SUM, d.dtype, members, 0, d.count, salt, buffer);
  }
  char *part = buffer + self * d.count * width;
  if (d.operation == 1) {
    MTC_EXPECT_OK(r.comm.reduceScatter(d.group, d.dtype, buffer, d.count));
    return checkSum(r, MTC_SUM, d.dtype, members, self * d.count, d.count, salt,
                    part);
  }
  MTC_EXPECT_OK(r.comm.allGather(d.group, d.dtype, buffer, d.count));
  for (int64_t m = 0; m < size; ++m)
    if (auto found = checkCopied(d.dtype, members[m], m * d.count, d.count,
                                 salt, buffer + m * d.count * width);
        !found.empty())
      return found;
  return "";
}

void skew(std::mt19937 &own) {
  if (own() % 4 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(own() % 400));
}

std::string mixture(Rank &r) {
  std::mt19937 shared(1234), own(unsigned(r.rank) + 1);
  for (int i = 0; i < kOperations; ++i) {
    Draw d = draw(shared);
    skew(own);
    if (auto found = perform(r, d, uint64_t(i)); !found.empty())
      return "operation " + std::to_string(i) + ": " + found;
  }
  return "";
}

/// Groups run at their own pace: nothing here holds two groups of a kind in
/// step.
std::string independentGroups(Rank &r) {
  std::mt19937 own(unsigned(r.rank) + 77);
  char *buffer = r.arena(MTC_ARENA_GRADS);
  std::vector<int> members = r.mesh.members(r.rank, MTC_GROUP_TP);
  for (int i = 0; i < 60 + 10 * int(r.mesh.coordinate(r.rank, MTC_AXIS_DP));
       ++i) {
    skew(own);
    fill(MTC_F32, r.rank, 0, 2000, uint64_t(i), buffer);
    MTC_EXPECT_OK(
        r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32, buffer, 2000));
    if (auto found = checkReduced(MTC_SUM, MTC_F32, members, 0, 2000,
                                  uint64_t(i), buffer);
        !found.empty())
      return found;
  }
  return text(r.comm.barrier());
}

/// A thread in collectives, in the place of a device's stream for them.
std::string collectivesAlone(Rank &r) {
  std::mt19937 shared(99), own(unsigned(r.rank) + 5);
  for (int i = 0; i < kOperations; ++i) {
    Draw d = draw(shared);
    skew(own);
    if (d.operation == 3) // a transfer
      continue;
    if (auto found = perform(r, d, uint64_t(i)); !found.empty())
      return "collective " + std::to_string(i) + ": " + found;
  }
  return "";
}

std::string transfersAlone(Rank &r) {
  std::mt19937 own(unsigned(r.rank) + 9);
  for (int i = 0; i < kOperations; ++i) {
    skew(own);
    if (auto found = shift(r, uint64_t(i), 300 + i); !found.empty())
      return "shift " + std::to_string(i) + ": " + found;
  }
  return "";
}

/// Collectives of one thread of a rank, transfers of another.
std::string besideEachOther(Rank &r) {
  std::string found;
  r.comm.threadWakes();
  std::thread other([&] {
    found = collectivesAlone(r);
    r.comm.threadWakes(); // the one that waits for this one's end
    r.comm.threadSleeps();
  });
  std::string mine = transfersAlone(r);
  r.comm.threadSleeps();
  other.join();
  return found + mine;
}

class Mixed : public ::testing::TestWithParam<Backend> {};

TEST_P(Mixed, Tp2Dp2Pp2) {
  expectAllWell(GetParam(), {2, 2, 2}, kMixedArena, mixture);
}
TEST_P(Mixed, Dp2Pp4) {
  expectAllWell(GetParam(), {1, 2, 4}, kMixedArena, mixture);
}
TEST_P(Mixed, Tp3) {
  expectAllWell(GetParam(), {3, 1, 1}, kMixedArena, mixture);
}
TEST_P(Mixed, GroupsAtTheirOwnPace) {
  expectAllWell(GetParam(), {2, 3, 1}, kMixedArena, independentGroups);
}

TEST_P(Mixed, CollectivesBesideTransfers) {
  expectAllWell(GetParam(), {2, 2, 2}, kMixedArena, besideEachOther);
}

INSTANTIATE_TEST_SUITE_P(Comm, Mixed, ::testing::ValuesIn(kBackends),
                         backendName);

} // namespace
