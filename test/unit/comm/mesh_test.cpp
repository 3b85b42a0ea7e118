//===- mesh_test.cpp - coordinates and groups -----------------------------===//

#include "runtime/comm/comm.h"

#include <gtest/gtest.h>

using mtc::runtime::Mesh;
using Ranks = std::vector<int>;

namespace {

const Mesh kMesh{2, 3, 4};

TEST(Mesh, TpIsFastestThenDpThenPp) {
  EXPECT_EQ(kMesh.worldSize(), 24);
  EXPECT_EQ(kMesh.rank(1, 0, 0), 1);
  EXPECT_EQ(kMesh.rank(0, 1, 0), 2);
  EXPECT_EQ(kMesh.rank(0, 0, 1), 6);
  EXPECT_EQ(kMesh.coordinates(23), (std::array<int, 3>{1, 2, 3}));
  for (int rank = 0; rank < 24; ++rank) {
    auto [t, d, p] = kMesh.coordinates(rank);
    EXPECT_EQ(kMesh.rank(t, d, p), rank);
  }
}

TEST(Mesh, GroupsFollowOneAxis) {
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_TP), (Ranks{8, 9}));
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_DP), (Ranks{7, 9, 11}));
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_ALL).size(), 24u);
}

TEST(Mesh, EmbeddingGroupIsFirstAndLastStage) {
  EXPECT_EQ(kMesh.members(3, MTC_GROUP_EMBD), (Ranks{3, 21}));
  EXPECT_EQ(kMesh.members(21, MTC_GROUP_EMBD), (Ranks{3, 21}));
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_EMBD), Ranks{}); // a middle stage
  EXPECT_EQ((Mesh{2, 2, 1}.members(3, MTC_GROUP_EMBD)), Ranks{3});
}

TEST(Mesh, GroupsOfAKindArePartitions) {
  for (int kind = 0; kind < MTC_GROUP_COUNT; ++kind)
    for (int rank = 0; rank < 24; ++rank)
      for (int member : kMesh.members(rank, MtcGroup(kind)))
        EXPECT_EQ(kMesh.members(member, MtcGroup(kind)),
                  kMesh.members(rank, MtcGroup(kind)));
}

} // namespace
