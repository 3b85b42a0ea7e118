//===- on_team.h - a kernel on several threads ------------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_ON_TEAM_H
#define MTC_TEST_UNIT_CODEGEN_ON_TEAM_H

#include <cstdint>
#include <vector>

namespace mtc::test {

/// Every thread calls the function, of a Library for `threads` threads, with
/// its part; operands and args as `call` of harness.h has them. Fails the test
/// if a thread writes behind the workspace, of codegen::teamWorkspace bytes.
void callOnTeam(void *function, const std::vector<void *> &operands,
                std::vector<int64_t> args, int64_t workspaceBytes,
                int64_t threads);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_ON_TEAM_H
