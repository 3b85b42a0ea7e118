//===- on_team.cpp - a kernel on several threads --------------------------===//
#include "on_team.h"

#include "harness.h"
#include "runtime/kernels/cpu/team.h"

#include <gtest/gtest.h>

using namespace mtc;
using namespace mtc::test;

void test::callOnTeam(void *function, const std::vector<void *> &operands,
                      std::vector<int64_t> args, int64_t workspaceBytes,
                      int64_t threads) {
  std::vector<uint32_t> workspace(size_t(workspaceBytes / 4) + 64, 0xA5A5A5A5);
  args.push_back(reinterpret_cast<int64_t>(workspace.data()));
  runtime::onTeam(threads, [&](int64_t part, int64_t parts) {
    std::vector<int64_t> mine = args;
    mine.insert(mine.end(), {part, parts});
    call(function, operands, mine);
  });
  for (size_t i = 0; i < 64; ++i)
    ASSERT_EQ(workspace[size_t(workspaceBytes / 4) + i], 0xA5A5A5A5)
        << "written behind the workspace";
}
