//===- memory_limit.cpp - what a rank needs, and may use ------------------===//

#include "compiler/memory_limit.h"

#include "compiler/beside_plan.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

namespace {

/// Bytes of a rank: all that is planned, and what is beside that.
struct Need {
  Need(const BundlePlan &plan, const ProgramPlan &program)
      : planned(std::accumulate(program.descriptor.arenas.begin(),
                                program.descriptor.arenas.end(),
                                program.descriptor.kernelWorkspace)),
        beside(besidePlan(plan.config, program).total()) {}
  int64_t total() const { return planned + beside; }
  int64_t planned, beside;
};

} // namespace

int64_t mostBytes(const BundlePlan &plan) {
  int64_t most = 0;
  for (const ProgramPlan &program : plan.programs)
    most = std::max(most, Need(plan, program).total());
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
  const int64_t limit = *plan.config.deviceMemory;
  int64_t mostBeside = 0;
  std::string text;
  for (const ProgramPlan &program : plan.programs) {
    const Need need(plan, program);
    if (need.total() <= limit)
      continue;
    mostBeside = std::max(mostBeside, need.beside);
    text += fmt::format("{}stage {}: expected at most {} bytes per rank "
                        "(device_memory), found {}",
                        text.empty() ? "" : "\n", program.stage(), limit,
                        need.total());
    if (need.beside > 0)
      text += fmt::format(", of them about {} of CUDA's context and NCCL",
                          need.beside);
  }
  if (text.empty())
    return Status::okay();
  if (mostBeside > limit)
    return {StatusCode::infeasible,
            text + "; lower the number of axes with several ranks, each of "
                   "which has a communicator, or take a larger device"};
  text += "; raise tp, pp or zero, or lower micro_batch_size";
  if (int64_t packed = mostPackedBytes(plan))
    text += fmt::format(", or set prepack = never: of these {} are packed "
                        "weights",
                        packed);
  return {StatusCode::infeasible, text};
}

} // namespace mtc::compiler
