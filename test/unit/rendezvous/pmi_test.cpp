//===- pmi_test.cpp - MPI's start -----------------------------------------===//

#include "runtime/comm/mpi/pmi.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;

namespace {

std::string ask(PmiTable &table, const std::string &line) {
  std::string answer;
  EXPECT_TRUE(table.answer(line, answer).ok());
  return answer;
}

TEST(Pmi, WhatOthersPutIsThereBehindABarrier) {
  // Rank 1 of 2; the other put something of its own.
  PmiTable table(1, 2,
                 [](const std::string &own, std::vector<std::string> &all) {
                   all = {"their=1#2=3 ", own};
                   return Status::okay();
                 });
  EXPECT_EQ(ask(table, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(ask(table, "cmd=get_universe_size"),
            "cmd=universe_size size=2 rc=0\n");
  EXPECT_EQ(ask(table, "cmd=put kvsname=mtc key=mine value=a=b"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(ask(table, "cmd=get kvsname=mtc key=mine"),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  EXPECT_EQ(ask(table, "cmd=barrier_in"), "cmd=barrier_out rc=0\n");
  EXPECT_EQ(ask(table, "cmd=get kvsname=mtc key=mine"),
            "cmd=get_result rc=0 msg=success value=a=b\n");
  EXPECT_EQ(ask(table, "cmd=get kvsname=mtc key=their"),
            "cmd=get_result rc=0 msg=success value=1#2=3\n");
  EXPECT_EQ(ask(table, "cmd=finalize"), "cmd=finalize_ack rc=0\n");
}

TEST(Pmi, AFailureOfTheJobIsItsEnd) {
  PmiTable table(0, 2, [](const std::string &, std::vector<std::string> &) {
    return Status(StatusCode::peerDied, "rank 1 died");
  });
  std::string answer;
  EXPECT_EQ(table.answer("cmd=barrier_in", answer).message(), "rank 1 died");
}

TEST(Pmi, ALibraryThatGivesUpIsHeard) {
  PmiTable table(0, 1, [](const std::string &, std::vector<std::string> &) {
    return Status::okay();
  });
  EXPECT_FALSE(table.gaveUp());
  EXPECT_EQ(ask(table, "cmd=abort exitcode=406441743"), "");
  EXPECT_TRUE(table.gaveUp());
}

TEST(Pmi, NoLineIsTooOdd) {
  PmiTable table(0, 1, [](const std::string &, std::vector<std::string> &) {
    return Status::okay();
  });
  for (const char *line : {"", "=", "cmd", "cmd=", "   ", "cmd=get", "cmd=put"})
    ask(table, line);
}

} // namespace
