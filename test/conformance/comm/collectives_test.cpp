//===- collectives_test.cpp - every op, dtype, group and count ------------===//

#include "sums.h"
#include "values.h"
#include "worlds.h"

#include <algorithm>
#include <cstring>

using namespace mtc;
using namespace mtc::test;
using runtime::Mesh;

namespace {

const MtcDtype kDtypes[] = {MTC_F32, MTC_BF16, MTC_I32, MTC_I128, MTC_F16};
// One, odd, small-way, large-way; the last with pieces of unequal length.
const int64_t kCounts[] = {0, 1, 3, 1000, 65537};

bool reducible(const Rank &r, MtcReduce op, MtcDtype dtype) {
  return dtype == MTC_F32 || dtype == MTC_BF16 || dtype == MTC_F16 ||
         (dtype == MTC_I128 && op == MTC_SUM && r.addsInRankOrder);
}

std::string context(const char *op, MtcGroup group, int64_t count,
                    const std::string &found) {
  return found.empty() ? ""
                       : std::string(op) + " group " + std::to_string(group) +
                             " count " + std::to_string(count) + ": " + found;
}

std::string allReduces(Rank &r, MtcGroup group, MtcDtype dtype, int64_t count) {
  std::vector<int> members = r.mesh.members(r.rank, group);
  char *buffer = r.arena(MTC_ARENA_GRADS);
  for (MtcReduce op : {MTC_SUM, MTC_MAX}) {
    if (!reducible(r, op, dtype))
      continue;
    fill(dtype, r.rank, 0, count, op, buffer);
    MTC_EXPECT_OK(r.comm.allReduce(group, op, dtype, buffer, count));
    std::string found = checkSum(r, op, dtype, members, 0, count, op, buffer);
    if (!found.empty())
      return context("all-reduce", group, count, found);
  }
  return "";
}

std::string reduceScatters(Rank &r, MtcGroup group, MtcDtype dtype,
                           int64_t count) {
  if (!reducible(r, MTC_SUM, dtype))
    return "";
  std::vector<int> members = r.mesh.members(r.rank, group);
  int64_t self = std::ranges::find(members, r.rank) - members.begin();
  char *buffer = r.arena(MTC_ARENA_GRADS);
  fill(dtype, r.rank, 0, count * int64_t(members.size()), 7, buffer);
  MTC_EXPECT_OK(r.comm.reduceScatter(group, dtype, buffer, count));
  return context("reduce-scatter", group, count,
                 checkSum(r, MTC_SUM, dtype, members, self * count, count, 7,
                          buffer + self * count * widthOf(dtype)));
}

std::string allGathers(Rank &r, MtcGroup group, MtcDtype dtype, int64_t count) {
  std::vector<int> members = r.mesh.members(r.rank, group);
  int64_t size = int64_t(members.size()), bytes = count * widthOf(dtype);
  int64_t self = std::ranges::find(members, r.rank) - members.begin();
  char *buffer = r.arena(MTC_ARENA_PARAMS);
  std::memset(buffer, 0xee, size_t(size * bytes));
  fill(dtype, r.rank, 0, count, 9, buffer + self * bytes);
  MTC_EXPECT_OK(r.comm.allGather(group, dtype, buffer, count));
  for (int64_t m = 0; m < size; ++m) {
    std::string found =
        checkCopied(dtype, members[m], 0, count, 9, buffer + m * bytes);
    if (!found.empty())
      return context("all-gather", group, count, found);
  }
  return "";
}

std::string everything(Rank &r) {
  for (int group = 0; group < MTC_GROUP_COUNT; ++group) {
    if (r.mesh.members(r.rank, MtcGroup(group)).empty())
      continue;
    for (MtcDtype dtype : kDtypes)
      for (int64_t count : kCounts)
        for (auto op : {allReduces, reduceScatters, allGathers}) {
          std::string found = op(r, MtcGroup(group), dtype, count);
          if (!found.empty())
            return found;
        }
  }
  return "";
}

class Collectives : public ::testing::TestWithParam<Backend> {};

void testMesh(Backend backend, Mesh mesh) {
  int64_t bytes = 65537 * 16 * int64_t(mesh.worldSize());
  expectAllWell(backend, mesh, bytes, everything);
}

TEST_P(Collectives, OneRank) { testMesh(GetParam(), {1, 1, 1}); }
TEST_P(Collectives, Tp2) { testMesh(GetParam(), {2, 1, 1}); }
TEST_P(Collectives, Tp3) { testMesh(GetParam(), {3, 1, 1}); }
TEST_P(Collectives, Tp4) { testMesh(GetParam(), {4, 1, 1}); }
TEST_P(Collectives, Tp4InPairs) {
  Mesh mesh(4, 2, 1);
  mesh.setKvRanks(2);
  testMesh(GetParam(), mesh);
}
TEST_P(Collectives, Tp2Dp2Pp2) { testMesh(GetParam(), {2, 2, 2}); }
TEST_P(Collectives, Dp2Pp4) { testMesh(GetParam(), {1, 2, 4}); }

// Past the caches, not aligned to 16 bytes, pieces of unequal length.
TEST_P(Collectives, LargeUnaligned) {
  for (MtcDtype dtype : {MTC_F32, MTC_BF16, MTC_F16}) {
    int64_t width = widthOf(dtype), count = (5 << 20) / width + 3;
    expectAllWell(GetParam(), {2, 1, 1}, 8 << 20, [&](Rank &r) {
      std::vector<int> members = {0, 1};
      char *buffer = r.arena(MTC_ARENA_GRADS) + width + 2 * width * r.rank;
      fill(dtype, r.rank, 0, count, 1, buffer);
      MTC_EXPECT_OK(
          r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, dtype, buffer, count));
      return checkReduced(MTC_SUM, dtype, members, 0, count, 1, buffer);
    });
  }
}

TEST_P(Collectives, SmallBufferAnywhere) {
  expectAllWell(GetParam(), {1, 2, 1}, 4096, [&](Rank &r) {
    std::vector<int> members = {0, 1};
    alignas(16) char buffer[16];
    fill(MTC_I128, r.rank, 0, 1, 1, buffer);
    MTC_EXPECT_OK(
        r.comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_I128, buffer, 1));
    return checkReduced(MTC_SUM, MTC_I128, members, 0, 1, 1, buffer);
  });
}

// As the global norm travels: limbs at an address of 8 bytes, and one rank's
// "not finite", the largest value of the last one, which the others keep.
TEST_P(Collectives, LimbsOfANormSaturate) {
  for (int bad : {-1, 0, 3})
    expectAllWell(GetParam(), {2, 2, 2}, 4096, [&](Rank &r) {
      constexpr int64_t count = MTC_NORM_LIMBS, last = count - 1;
      std::vector<int> members = {0, 1, 2, 3, 4, 5, 6, 7};
      char *buffer = r.arena(MTC_ARENA_STEP) + 8;
      fill(MTC_I128, r.rank, 0, count, 1, buffer);
      std::memset(buffer + 16 * last, 0, 16);
      char top[16];
      std::memset(top, 0xff, 16);
      top[15] = 0x7f;
      if (r.rank == bad)
        std::memcpy(buffer + 16 * last, top, 16);
      else
        buffer[16 * last + 2] = static_cast<char>(r.rank); // rank * 2^16
      MTC_EXPECT_OK(
          r.comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_I128, buffer, count));
      char sum[16] = {};
      sum[2] = 28; // 0 + ... + 7
      if (std::memcmp(buffer + 16 * last, bad < 0 ? sum : top, 16) != 0)
        return std::string("the last limb differs from the reference");
      return checkReduced(MTC_SUM, MTC_I128, members, 0, last, 1, buffer);
    });
}

TEST_P(Collectives, CountsPayload) {
  expectAllWell(GetParam(), {2, 1, 2}, 1 << 16, [&](Rank &r) {
    char *buffer = r.arena(MTC_ARENA_GRADS);
    std::memset(buffer, 0, 1 << 16);
    MTC_EXPECT_OK(
        r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_BF16, buffer, 100));
    MTC_EXPECT_OK(r.comm.allGather(MTC_GROUP_ALL, MTC_F32, buffer, 10));
    MTC_EXPECT_OK(r.comm.reduceScatter(MTC_GROUP_DP, MTC_F32, buffer, 10));
    bool first = r.rank < 2;
    MtcTransfer t{first, first ? 1 : 0, MTC_ARENA_GRADS, 5, 0, 64};
    MTC_EXPECT_OK(r.comm.exchange({&t, 1}));
    std::array<int64_t, MTC_GROUP_COUNT + 1> expected{};
    expected[MTC_GROUP_TP] = 200;
    expected[MTC_GROUP_ALL] = 160;
    expected[MTC_GROUP_COUNT] = first ? 64 : 0; // transfers
    return std::string(r.comm.bytesMoved() == expected ? ""
                                                       : "wrong byte counts");
  });
}

// The data must be able to tell orders apart, else the suite proves nothing.
TEST(Values, OrderMatters) {
  int forward[] = {0, 1, 2}, backward[] = {2, 1, 0};
  int different = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    char a[16], b[16];
    putReduced(MTC_SUM, MTC_F32, forward, i, 0, a);
    putReduced(MTC_SUM, MTC_F32, backward, i, 0, b);
    different += std::memcmp(a, b, 4) != 0;
  }
  EXPECT_GT(different, 100);
}

INSTANTIATE_TEST_SUITE_P(Comm, Collectives, ::testing::ValuesIn(kBackends),
                         backendName);

} // namespace
