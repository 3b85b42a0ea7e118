//===- traffic.cpp - what a rank moves in a step --------------------------===//

#include "compiler/traffic.h"

namespace mtc::compiler {

static void addRow(const ProgramPlan &program, const MtcStep &row,
                   StepTraffic &traffic) {
  if (row.kind == MTC_STEP_RUN)
    for (const PlanCollective &c :
         program.fragments[row.fragment].collectives) {
      StepTraffic::Group &group = traffic.groups[c.group];
      Traffic one{1, c.bytes, c.bytes * c.ringPasses};
      group.all.add(one);
      group.kinds[c.kind].add(one);
    }
  // Those of a post are counted where they are waited for.
  if (row.kind == MTC_STEP_POST)
    return;
  for (const MtcTransfer &t : program.transfersOf(row))
    if (t.is_send)
      traffic.sendsTo[t.peer_stage].add({1, static_cast<int64_t>(t.bytes), 0});
}

StepTraffic trafficOfStep(const ProgramPlan &program) {
  StepTraffic traffic;
  for (const PlanTimeline &timeline : program.timelines)
    if (timeline.entry == "train")
      for (const MtcStep &row : timeline.rows)
        addRow(program, row, traffic);
  return traffic;
}

} // namespace mtc::compiler
