//===- launched_world.h - ranks that mpirun starts --------------*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_LAUNCHED_WORLD_H
#define MTC_TEST_CONFORMANCE_COMM_LAUNCHED_WORLD_H

#include "worlds.h"

namespace mtc::test {

/// runWorld for Open MPI, which begins only under its own launcher: that starts
/// this program again for every rank, with the test that runs now. There each
/// comes to the same call of this function, whose `body` it runs and ends with;
/// calls before that one return at once, as if all were well.
std::vector<std::string> runLaunched(const runtime::Mesh &mesh,
                                     int64_t arenaBytes, const Body &body);

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_LAUNCHED_WORLD_H
