//===- team_environment.cpp - what threads of ranks inherit ---------------===//

#include "runtime/control/team_environment.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace mtc::runtime {

// Some 10 us: longer than most gaps between the parts of a step, and little to
// lose where a gap is longer.
static constexpr int kSpinsWithOwnCore = 3000;

std::vector<std::string> teamVariables(int64_t threads, int64_t onHost,
                                       int64_t cores) {
  std::vector<std::string> variables{
      fmt::format("OMP_NUM_THREADS={}", threads)};
  if (!std::getenv("GOMP_SPINCOUNT") && !std::getenv("OMP_WAIT_POLICY"))
    variables.push_back(fmt::format("GOMP_SPINCOUNT={}",
                                    onHost <= cores ? kSpinsWithOwnCore : 0));
  return variables;
}

std::string teamNote(int64_t ranks, int64_t threads, int64_t cores) {
  if (threads == 1 || ranks * threads <= cores)
    return "";
  return fmt::format(
      "note: {} of {} threads {} {} core{}, so threads wait for one another in "
      "every kernel; compile with --threads-per-rank {}",
      ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks), threads,
      ranks == 1 ? "runs on" : "each share", cores, cores == 1 ? "" : "s",
      std::max<int64_t>(1, cores / ranks));
}

} // namespace mtc::runtime
