//===- team_environment.cpp - what threads of ranks inherit ---------------===//

#include "runtime/control/team_environment.h"

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

} // namespace mtc::runtime
