//===- plan_facts.h - what a bundle says of its plan, as rows ---*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_PLAN_FACTS_H
#define MTC_RUNTIME_INSPECT_PLAN_FACTS_H

#include "runtime/base/json.h"
#include "runtime/control/bundle.h"

namespace mtc::runtime {

/// One thing that a plan says: of which part, what, and the value. Numbers are
/// of one rank, of one step.
struct PlanFact {
  std::string part; ///< "plan", "stage 0", "parameters"
  std::string name; ///< "mesh.tp", "memory.params", "layers.0.mlp.up.weight"
  Json value;
};

/// In the order in which people read them:
///   configuration   mtc.config
///   plan            report.json: what it says of all stages together
///   stage N         report.json: parameters, memory by arena, collectives of a
///                   step by group and kind, what it sends
///   parameters      the descriptors: shape, part of a rank, where, and whether
///                   the optimizer's state is a part as well
/// `folder` is that of `bundle`. Errors: inputRejected.
Status readPlanFacts(const std::string &folder, const Bundle &bundle,
                     std::vector<PlanFact> &facts);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_PLAN_FACTS_H
