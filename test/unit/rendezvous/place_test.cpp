//===- place_test.cpp - what launchers say --------------------------------===//

#include "runtime/rendezvous/launch_place.h"

#include <gtest/gtest.h>

#include <map>

using namespace mtc::runtime;

namespace {

using Variables = std::map<std::string, std::string>;

// As each launcher was seen to set them.
const Variables kTorchrun = {{"RANK", "3"},
                             {"WORLD_SIZE", "4"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "node1"},
                             {"MASTER_PORT", "29500"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "3"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                            {"PMIX_RANK", "3"}};
const Variables kHydra = {{"PMI_RANK", "3"},
                          {"PMI_SIZE", "4"},
                          {"PMI_FD", "6"},
                          {"MPI_LOCALRANKID", "1"},
                          {"MPI_LOCALNRANKS", "2"}};
const Variables kSlurm = {{"SLURM_PROCID", "3"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_NTASKS", "4"},
                          {"SLURM_STEP_NUM_TASKS", "4"},
                          {"SLURM_STEP_ID", "2"},
                          {"SLURM_JOB_ID", "17"},
                          {"SLURM_NODEID", "1"},
                          {"SLURM_STEP_NODELIST", "node[07-08]"},
                          {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
const Variables kOurs = {{"MTC_RANK", "3"},
                         {"MTC_WORLD_SIZE", "4"},
                         {"MTC_MASTER_ADDR", "node9"},
                         {"MTC_MASTER_PORT", "1234"}};

Variables both(Variables a, const Variables &b) {
  a.insert(b.begin(), b.end());
  return a;
}

Status find(const Variables &variables, LaunchPlace &out,
            const GivenPlace &given = {}) {
  return findPlace(
      given,
      [&](const std::string &name) -> std::optional<std::string> {
        auto found = variables.find(name);
        return found == variables.end()
                   ? std::nullopt
                   : std::optional<std::string>(found->second);
      },
      out);
}

struct Case {
  const char *name;
  Variables variables;
  const char *family, *master;
  int port, localRank, localSize;
};

// Every family alone, and with those of less precedence beside it.
TEST(Place, Precedence) {
  const Case cases[] = {
      {"nothing", {}, "", "", 0, -1, -1},
      {"torchrun", kTorchrun, "torchrun", "node1", 29501, 1, 2},
      {"Open MPI", kOpenMpi, "Open MPI", "", 0, 3, 4},
      {"hydra", kHydra, "PMI", "", 0, 1, 2},
      {"Slurm", kSlurm, "Slurm", "node07", 20219, 1, 2},
      {"ours", kOurs, "mtc", "node9", 1234, -1, -1},
      {"srun --mpi=pmi2", both(kHydra, kSlurm), "PMI", "", 0, 1, 2},
      {"mpirun in a Slurm step", both(kOpenMpi, kSlurm), "Open MPI", "", 0, 3,
       4},
      {"srun --mpi=pmix", both({{"PMIX_RANK", "3"}}, kSlurm), "Slurm", "node07",
       20219, 1, 2},
      {"torchrun in a Slurm step", both(kTorchrun, kSlurm), "torchrun", "node1",
       29501, 1, 2},
      {"ours and torchrun's", both(kOurs, kTorchrun), "mtc", "node9", 1234, -1,
       -1},
      {"torchrun's and Open MPI's", both(kTorchrun, kOpenMpi), "torchrun",
       "node1", 29501, 1, 2},
  };
  for (const Case &c : cases) {
    LaunchPlace place;
    Status status = find(c.variables, place);
    EXPECT_TRUE(status.ok()) << c.name << ": " << status.message();
    EXPECT_EQ(place.family, c.family) << c.name;
    EXPECT_EQ(place.rank, c.variables.empty() ? 0 : 3) << c.name;
    EXPECT_EQ(place.world, c.variables.empty() ? 1 : 4) << c.name;
    EXPECT_EQ(place.master, c.master) << c.name;
    EXPECT_EQ(place.port, c.port) << c.name;
    EXPECT_EQ(place.localRank, c.localRank) << c.name;
    EXPECT_EQ(place.localSize, c.localSize) << c.name;
  }
}

TEST(Place, OptionsOverruleAll) {
  LaunchPlace place;
  GivenPlace given{1, 2, "[::1]:77"};
  EXPECT_TRUE(find(both(kOurs, kTorchrun), place, given).ok());
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.world, 2);
  EXPECT_EQ(place.master, "::1");
  EXPECT_EQ(place.port, 77);
  // The address alone replaces a family's.
  EXPECT_TRUE(find(kTorchrun, place, {{}, {}, "other"}).ok());
  EXPECT_EQ(place.master, "other");
  EXPECT_EQ(place.port, 29501);
}

TEST(Place, SlurmIsBelievedInAStepOnly) {
  Variables batch = kSlurm;
  batch.erase("SLURM_STEP_ID");
  LaunchPlace place;
  EXPECT_TRUE(find(batch, place).ok());
  EXPECT_FALSE(place.launched());
}

TEST(Place, DisagreementNamesBoth) {
  Variables other = kOpenMpi;
  other["OMPI_COMM_WORLD_RANK"] = "2";
  LaunchPlace place;
  Status status = find(both(kTorchrun, other), place);
  EXPECT_EQ(status.code(), StatusCode::usage);
  EXPECT_EQ(
      status.message(),
      "torchrun says that this is rank 3 of 4, Open MPI that it is rank 2 "
      "of 4; start with one of them, or say it with --rank and --world");
}

TEST(Place, WhatIsWrongIsSaid) {
  const std::pair<Variables, std::string> cases[] = {
      {{{"MTC_RANK", "0"}}, "MTC_RANK is set and MTC_WORLD_SIZE is not"},
      {{{"PMI_SIZE", "2"}}, "PMI_SIZE is set and PMI_RANK is not"},
      {both({{"MTC_RANK", "x"}}, kOurs), "MTC_RANK: expected a number from 0, "
                                         "found 'x'"},
      {both({{"MTC_RANK", "-1"}}, kOurs), "found '-1'"},
      {both({{"MTC_RANK", "4"}}, kOurs), "expected a rank below"},
      {both({{"MTC_MASTER_PORT", "65536"}}, kOurs), "at most 65535"},
      {both({{"SLURM_STEP_NODELIST", "a[1-"}}, kSlurm),
       "Slurm's list of nodes"},
      {{{"PMIX_RANK", "0"}}, "(PMIX_RANK) and does not say of how many"},
  };
  for (const auto &[variables, text] : cases) {
    LaunchPlace place;
    Status status = find(variables, place);
    EXPECT_EQ(status.code(), StatusCode::usage) << text;
    EXPECT_NE(status.message().find(text), std::string::npos)
        << status.message();
  }
  // RANK alone is a word that others use.
  LaunchPlace place;
  EXPECT_TRUE(find({{"RANK", "gold"}}, place).ok());
  EXPECT_FALSE(place.launched());
}

std::string joined(std::string_view list, size_t most = 100) {
  std::vector<std::string> nodes;
  if (!expandNodes(list, most, nodes).ok())
    return "rejected";
  std::string text;
  for (const std::string &node : nodes)
    text += node + " ";
  return text;
}

TEST(Nodes, AreExpanded) {
  EXPECT_EQ(joined("a"), "a ");
  EXPECT_EQ(joined("a,b"), "a b ");
  EXPECT_EQ(joined("a[01-03,7],b"), "a01 a02 a03 a7 b ");
  EXPECT_EQ(joined("r[1-2]n[09-10]x"), "r1n09x r1n10x r2n09x r2n10x ");
  for (const char *wrong : {"a[", "a[1-", "a]1[", "a[2-1]", "a[x]", "a[]b[",
                            "a[1-9999999999]", ",", "a[1]]["})
    EXPECT_EQ(joined(wrong), "rejected") << wrong;
}

TEST(Nodes, ManyAreNoMatter) {
  std::string most(4096, '[');
  EXPECT_EQ(joined(most), "rejected");
  std::string deep;
  for (int i = 0; i < 10000; ++i)
    deep += "a[1-999999999]";
  EXPECT_EQ(joined(deep, 2), "rejected");
  EXPECT_EQ(joined("a[1-999999999]", 3), "a1 a2 a3 ");
}

TEST(Nodes, Tasks) {
  EXPECT_EQ(tasksOfNode("4(x2),3", 0), 4);
  EXPECT_EQ(tasksOfNode("4(x2),3", 1), 4);
  EXPECT_EQ(tasksOfNode("4(x2),3", 2), 3);
  EXPECT_EQ(tasksOfNode("4(x2),3", 3), -1);
  EXPECT_EQ(tasksOfNode("4(x", 0), -1);
  EXPECT_EQ(tasksOfNode("", 0), -1);
}

} // namespace
