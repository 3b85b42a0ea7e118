//===- mesh_test.cpp - axes, coordinates and groups -----------------------===//
//
// The tests walk the tables of mesh.h, so a new axis is tested as it stands
// there.
//
//===----------------------------------------------------------------------===//

#include "mtc/runtime/mesh.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace mtc;
using Ranks = std::vector<int>;

namespace {

const Mesh kMesh{2, 3, 4};

/// tp, then the other axes from the last one back.
std::string backwards() {
  std::string text(axisName(MTC_AXIS_TP));
  for (int axis = MTC_AXIS_COUNT - 1; axis > 0; --axis)
    text += "-" + std::string(kAxes[axis].name);
  return text;
}

/// Meshes with different sizes along all axes, with none, and with one of each,
/// in the default order and in another, and with each number of ranks along tp
/// that share heads.
std::vector<Mesh> meshes() {
  std::vector<Mesh> all = {Mesh(), kMesh, Mesh(2, 2, 2), Mesh(1, 4, 1)};
  Mesh primes;
  const int64_t sizes[] = {2, 3, 5, 2, 3};
  for (const AxisInfo &axis : kAxes) {
    primes[axis.id] = sizes[axis.id % std::size(sizes)];
    Mesh line;
    line[axis.id] = 5;
    all.push_back(line);
  }
  all.push_back(primes);
  for (size_t i = 0, n = all.size(); i < n; ++i) {
    all.push_back(all[i]);
    all.back().setOrder(*RankOrder::of(backwards()));
  }
  for (size_t i = 0, n = all.size(); i < n; ++i)
    for (int64_t ranks = 2; ranks <= all[i][MTC_AXIS_TP]; ++ranks)
      if (all[i][MTC_AXIS_TP] % ranks == 0) {
        all.push_back(all[i]);
        all.back().setKvRanks(ranks);
      }
  return all;
}

TEST(Mesh, TpIsFastestThenDpThenPp) {
  EXPECT_EQ(kMesh.worldSize(), 24);
  EXPECT_EQ(Mesh().worldSize(), 1);
  EXPECT_EQ(kMesh.moved(0, MTC_AXIS_TP, 1), 1);
  EXPECT_EQ(kMesh.moved(0, MTC_AXIS_DP, 1), 2);
  EXPECT_EQ(kMesh.moved(0, MTC_AXIS_PP, 1), 6);
  EXPECT_EQ(kMesh.coordinate(23, MTC_AXIS_TP), 1);
  EXPECT_EQ(kMesh.coordinate(23, MTC_AXIS_DP), 2);
  EXPECT_EQ(kMesh.coordinate(23, MTC_AXIS_PP), 3);
  // Further axes may stand between.
  std::string text = kMesh.text(" ");
  size_t tp = text.find("tp 2"), dp = text.find("dp 3"), pp = text.find("pp 4");
  EXPECT_NE(pp, std::string::npos) << text;
  EXPECT_TRUE(tp < dp && dp < pp) << text;
  EXPECT_NE(kMesh.text().find("tp 2, "), std::string::npos) << kMesh.text();
}

TEST(Mesh, TheOrderSaysWhichAxisIsFaster) {
  Mesh mesh = kMesh;
  mesh.setOrder(*RankOrder::of(backwards()));
  EXPECT_EQ(mesh.moved(0, MTC_AXIS_TP, 1), 1);
  EXPECT_EQ(mesh.moved(0, MTC_AXIS_PP, 1), 2);
  EXPECT_EQ(mesh.moved(0, MTC_AXIS_DP, 1), 8);
  EXPECT_EQ(mesh.members(9, MTC_GROUP_DP), (Ranks{1, 9, 17}));
  EXPECT_EQ(mesh.members(1, MTC_GROUP_EMBEDDING), (Ranks{1, 7}));
  EXPECT_NE(mesh, kMesh);
  EXPECT_NE(mesh.text().find("order " + backwards()), std::string::npos);
}

TEST(Mesh, AnOrderHasEachAxisOnceAndTpFirst) {
  std::string standard = RankOrder().text();
  EXPECT_TRUE(RankOrder::of(standard)->isDefault());
  EXPECT_EQ(RankOrder::of(backwards())->text(), backwards());
  for (std::string bad :
       {std::string(), std::string("tp"), standard + "-", "-" + standard,
        standard + "-tp", standard.substr(3) + "-tp", std::string("tp-tp-tp"),
        standard.substr(0, standard.size() - 1) + "x"})
    EXPECT_EQ(RankOrder::of(bad), std::nullopt) << bad;
}

TEST(Mesh, RanksAndCoordinatesAreInverse) {
  for (const Mesh &mesh : meshes()) {
    std::set<Mesh::Coordinates> seen;
    for (int rank = 0; rank < mesh.worldSize(); ++rank) {
      Mesh::Coordinates at = mesh.coordinates(rank);
      EXPECT_EQ(mesh.rank(at), rank) << mesh.text();
      EXPECT_TRUE(seen.insert(at).second) << mesh.text();
      for (const AxisInfo &axis : kAxes) {
        EXPECT_EQ(mesh.coordinate(rank, axis.id), at[axis.id]);
        EXPECT_GE(at[axis.id], 0);
        EXPECT_LT(at[axis.id], mesh[axis.id]) << mesh.text();
      }
    }
  }
}

TEST(Mesh, MovedChangesOneCoordinate) {
  for (const Mesh &mesh : meshes())
    for (int rank = 0; rank < mesh.worldSize(); ++rank)
      for (const AxisInfo &axis : kAxes) {
        Mesh::Coordinates expected = mesh.coordinates(rank);
        expected[axis.id] = mesh[axis.id] - 1;
        int moved = mesh.moved(rank, axis.id, mesh[axis.id] - 1);
        EXPECT_EQ(mesh.coordinates(moved), expected) << mesh.text();
      }
}

/// Of any dimension that is cut in a head and a tail each index is on one rank,
/// and the pieces of a rank see as many causal keys as those of any other.
TEST(Mesh, PiecesCoverADimension) {
  for (int64_t ranks : {1, 2, 3, 8})
    for (int64_t piece : {1, 4, 5}) {
      std::set<int64_t> seen, work;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        int64_t keys = 0;
        for (int64_t local = 0; local < 2 * piece; ++local) {
          int64_t at =
              local + pieceOffsets(ranks, piece)[local / piece].at(rank);
          EXPECT_TRUE(seen.insert(at).second) << at;
          keys += at + 1;
        }
        work.insert(keys);
      }
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), 2 * ranks * piece - 1);
      EXPECT_EQ(work.size(), 1u) << ranks << " ranks, pieces of " << piece;
    }
  EXPECT_TRUE(cutsHeadAndTail("cp"));
  EXPECT_FALSE(cutsHeadAndTail("tp"));
  EXPECT_FALSE(cutsHeadAndTail("x"));
}

TEST(Mesh, GroupsFollowOneAxis) {
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_TP), (Ranks{8, 9}));
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_DP), (Ranks{7, 9, 11}));
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_ALL).size(), 24u);
}

/// Of eight ranks along tp and two key heads, each four in a row have one.
TEST(Mesh, RanksInARowShareHeads) {
  Mesh mesh(8, 2, 1);
  EXPECT_EQ(mesh.members(5, MTC_GROUP_KV), Ranks{5});
  mesh.setKvRanks(4);
  EXPECT_EQ(mesh.members(2, MTC_GROUP_KV), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(mesh.members(13, MTC_GROUP_KV), (Ranks{12, 13, 14, 15}));
  EXPECT_EQ(mesh.groupSize(MTC_GROUP_KV), 4);
  EXPECT_EQ(mesh.groupSize(MTC_GROUP_TP), 8);
  EXPECT_NE(mesh, Mesh(8, 2, 1));
}

TEST(Mesh, EmbeddingGroupIsFirstAndLastStage) {
  EXPECT_EQ(kMesh.members(3, MTC_GROUP_EMBEDDING), (Ranks{3, 21}));
  EXPECT_EQ(kMesh.members(21, MTC_GROUP_EMBEDDING), (Ranks{3, 21}));
  EXPECT_EQ(kMesh.members(9, MTC_GROUP_EMBEDDING), Ranks{}); // a middle stage
  EXPECT_EQ((Mesh{2, 2, 1}.members(3, MTC_GROUP_EMBEDDING)), Ranks{3});
}

/// The groups of a kind cover each rank once (those of ends: each rank of an
/// end), all have the stated size, and members stand in rank order.
TEST(Mesh, GroupsOfAKindArePartitions) {
  for (const Mesh &mesh : meshes())
    for (const GroupInfo &group : kGroups) {
      std::map<int, int> covered;
      for (int rank = 0; rank < mesh.worldSize(); ++rank) {
        Ranks members = mesh.members(rank, group.id);
        if (members.empty()) {
          EXPECT_TRUE(group.ends) << group.name;
          continue;
        }
        EXPECT_TRUE(std::ranges::is_sorted(members)) << group.name;
        EXPECT_EQ(std::ranges::count(members, rank), 1) << group.name;
        EXPECT_EQ(int64_t(members.size()), mesh.groupSize(group.id))
            << group.name << " of " << mesh.text();
        for (int member : members)
          EXPECT_EQ(mesh.members(member, group.id), members) << group.name;
        if (members[0] == rank)
          for (int member : members)
            ++covered[member];
      }
      for (int rank = 0; rank < mesh.worldSize(); ++rank) {
        bool isMember = !mesh.members(rank, group.id).empty();
        EXPECT_EQ(covered[rank], isMember ? 1 : 0)
            << group.name << " of " << mesh.text();
      }
    }
}

TEST(Mesh, MembersDifferInTheAxesOfTheirGroupOnly) {
  for (const Mesh &mesh : meshes())
    for (const GroupInfo &group : kGroups)
      for (int rank = 0; rank < mesh.worldSize(); ++rank)
        for (int member : mesh.members(rank, group.id))
          for (const AxisInfo &axis : kAxes) {
            bool same = mesh.coordinate(member, axis.id) ==
                        mesh.coordinate(rank, axis.id);
            EXPECT_TRUE(same || group.along(axis.id))
                << group.name << " of " << mesh.text();
          }
}

TEST(Mesh, NamesRoundTrip) {
  for (const AxisInfo &axis : kAxes) {
    EXPECT_EQ(axisNamed(axis.name), axis.id);
    EXPECT_EQ(axisName(axis.id), axis.name);
  }
  for (const GroupInfo &group : kGroups) {
    EXPECT_EQ(groupNamed(group.name), group.id);
    EXPECT_EQ(groupName(group.id), group.name);
  }
  EXPECT_EQ(axisNamed("xp"), std::nullopt);
  EXPECT_EQ(groupNamed("pp"), std::nullopt);
  EXPECT_EQ(groupName(MTC_GROUP_COUNT), "unknown");
  EXPECT_EQ(namesOf(kGroups, [](const GroupInfo &g) { return g.ends; }),
            "embedding");
  EXPECT_EQ(namesOf(kGroups,
                    [](const GroupInfo &g) {
                      return g.ends || g.id == MTC_GROUP_TP ||
                             g.id == MTC_GROUP_ALL;
                    }),
            "tp, embedding or all");
}

/// A collective over an axis of dist.mesh is one on the group of that name.
TEST(Mesh, AnAxisThatSplitsHasAGroupOfItsName) {
  for (const AxisInfo &axis : kAxes) {
    EXPECT_TRUE(axis.splits || !axis.data) << axis.name;
    EXPECT_EQ(groupNamed(axis.name).has_value(), axis.splits) << axis.name;
    if (auto group = groupNamed(axis.name)) {
      EXPECT_EQ(kGroups[*group].axes, 1u << axis.id) << axis.name;
      EXPECT_FALSE(kGroups[*group].ends || kGroups[*group].runs) << axis.name;
      EXPECT_EQ(groupAlong(axis.id), *group);
      EXPECT_EQ(kGroups[*group].sumAxis(), axis.id) << axis.name;
    }
  }
}

} // namespace
