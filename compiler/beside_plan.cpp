//===- beside_plan.cpp - what a GPU holds beside arenas -------------------===//

#include "compiler/beside_plan.h"

namespace mtc::compiler {

static constexpr int64_t kContext = 650'000'000,
                         kFirstCommunicator = 612'000'000,
                         kNextCommunicator = 407'000'000;

/// Of all ranks one, and one for each group of several but not all: a group of
/// all has the former, as in runtime/device/cuda/nccl_groups.cpp.
static int64_t communicatorsOf(const Mesh &mesh, int64_t stage) {
  const auto world = static_cast<size_t>(mesh.worldSize());
  if (world == 1)
    return 0;
  int64_t count = 1;
  for (const GroupInfo &group : kGroups) {
    size_t members =
        mesh.members(mesh.moved(0, MTC_AXIS_PP, stage), group.id).size();
    count += members > 1 && members < world;
  }
  return count;
}

BesidePlan besidePlan(const Mesh &mesh, int64_t stage) {
  BesidePlan found;
  found.context = kContext;
  found.communicators = communicatorsOf(mesh, stage);
  if (found.communicators > 0)
    found.nccl =
        kFirstCommunicator + (found.communicators - 1) * kNextCommunicator;
  return found;
}

BesidePlan besidePlan(const PlanConfig &config, const ProgramPlan &program) {
  return config.isForGpu() ? besidePlan(config.mesh, program.stage())
                           : BesidePlan{};
}

} // namespace mtc::compiler
