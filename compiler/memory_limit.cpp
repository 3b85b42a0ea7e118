//===- memory_limit.cpp - what a rank needs, and may use ------------------===//

#include "compiler/memory_limit.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

int64_t bytesOfRank(const ProgramPlan &program) {
  const auto &arenas = program.descriptor.arenas;
  return std::accumulate(arenas.begin(), arenas.end(),
                         program.descriptor.kernelWorkspace);
}

int64_t mostBytes(const BundlePlan &plan) {
  int64_t most = 0;
  for (const ProgramPlan &program : plan.programs)
    most = std::max(most, bytesOfRank(program));
  return most;
}

/// Of a rank, in the arena that few plans have.
static int64_t mostPackedBytes(const BundlePlan &plan) {
  int64_t most = 0;
  for (const ProgramPlan &program : plan.programs)
    most = std::max(most, program.descriptor.arenas[MTC_ARENA_PACKED]);
  return most;
}

Status checkMemory(const BundlePlan &plan) {
  if (!plan.config.deviceMemory)
    return Status::okay();
  std::string text;
  for (const ProgramPlan &program : plan.programs)
    if (int64_t bytes = bytesOfRank(program); bytes > *plan.config.deviceMemory)
      text += fmt::format("{}stage {}: expected at most {} bytes per rank "
                          "(device_memory), found {}",
                          text.empty() ? "" : "\n", program.stage(),
                          *plan.config.deviceMemory, bytes);
  if (text.empty())
    return Status::okay();
  text += "; raise tp, pp or zero, or lower micro_batch_size";
  if (int64_t packed = mostPackedBytes(plan))
    text += fmt::format(", or set prepack = never: of these {} are packed "
                        "weights",
                        packed);
  return {StatusCode::infeasible, text};
}

} // namespace mtc::compiler
