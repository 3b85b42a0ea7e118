//===- waitfor.h - can the ranks wait for each other --*- C++ -*-===//
//
// Nodes: each computation; begin and end of each exchange and collective;
// shared by ranks, one node per matched transfer and one per collective. Edges:
// an item to the next one of its rank (everything of a rank is one stream, the
// strictest model: buffers and more streams only take edges away); begin ->
// transfer or collective -> end; begin -> end. The graph has a cycle exactly
// when the machine deadlocks, and its longest path is the time the machine
// takes.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_WAITFOR_H
#define MTC_PASSES_PIPELINE_SCHEDULES_WAITFOR_H

#include "passes/pipeline/schedules/machine.h"

namespace mtc::schedules {

/// A rank in a cycle: it cannot end one item, and begins another only then.
/// Both are indices in its program; `text` says so for people.
struct RankWait {
  int rank = 0, unended = 0, unbegun = 0;
  std::string text;
};

/// What the graph says. `cycle` is a shortest one, node by node, each waiting
/// for the one before it: `x 0->1 a1.0` a transfer, `c tp0#2 all-reduce` a
/// collective, `r0:F1.0`, `r0:begin#4{Rg0.1:1}`, `r0:end#3`. `ranks` is the
/// same by rank. Both empty when acyclic.
struct WaitForResult {
  bool acyclic = true;
  std::vector<std::string> cycle;
  std::vector<RankWait> ranks;
  int64_t makespan = 0; ///< when acyclic, in the unit of the costs
};

/// Builds and sorts the graph; expects `matching.complete`. A transfer takes
/// `latency`, a collective the greatest cost of its calls.
WaitForResult analyseWaits(const Machine &machine, const Matching &matching,
                           int64_t latency = 0);

/// The texts of `ranks` in one line.
std::string rankText(const WaitForResult &waits);

/// All findings of matching and, when all is matched, `cycle`.
Findings verifyMachine(const Machine &machine);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_WAITFOR_H
