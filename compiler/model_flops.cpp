//===- model_flops.cpp - what a plan's model computes ---------------------===//

#include "compiler/model_flops.h"

#include <algorithm>
#include <functional>
#include <map>

namespace mtc::compiler {

static double flopsOf(const ProgramPlan &program,
                      const PlanTimeline &timeline) {
  double sum = 0;
  for (const MtcStep &row : timeline.rows)
    if (row.kind == MTC_STEP_RUN && row.fragment >= 0)
      sum += program.fragments[size_t(row.fragment)].unmaskedFlops;
  return sum;
}

std::vector<runtime::ModelFlops> modelFlops(const BundlePlan &plan) {
  const PlanConfig &c = plan.config;
  double ranks = static_cast<double>(c.mesh.worldSize() / c.mesh.stages());
  std::map<int64_t, double, std::greater<>> forward; // of all ranks
  for (const ProgramPlan &program : plan.programs)
    for (const PlanTimeline &timeline : program.timelines) {
      int64_t seq = timeline.seq.value_or(c.seq);
      // A token of another batch takes as many.
      if (timeline.entry == runtime::entryName("eval", {seq, c.globalBatch},
                                               {c.seq, c.globalBatch}))
        forward[seq] += ranks * flopsOf(program, timeline);
    }
  std::vector<runtime::ModelFlops> flops;
  for (auto [seq, sum] : forward)
    flops.push_back({seq, 3 * sum / static_cast<double>(c.globalBatch * seq)});
  return flops;
}

} // namespace mtc::compiler
