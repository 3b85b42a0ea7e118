//===- plans.h - compiled plans, as IR that can be taken apart --*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EFFECTS_PLANS_H
#define MTC_TEST_UNIT_EFFECTS_PLANS_H

#include "models/strategy.h"
#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mtc::test {

/// A model of a few thousand parameters, and how it is spread; or a plan that
/// is there.
struct PlanRequest {
  std::string name;
  std::string file; ///< IR after plan-memory; then the rest does not count
  std::string norm = "layer_norm", qkv = "fused";
  bool tied = true;
  std::vector<models::StrategyOption> strategy;
};

/// Plans that hold, together, every kind of op of a fragment. Without one in
/// bf16 where this machine has no instruction set for it. With the plan in the
/// file that the environment variable MTC_EFFECTS_IR names, if it does.
std::vector<PlanRequest> planRequests();

/// Compiles as far as plan-memory; files go to `folder`, which exists. Errors
/// are those of mtc::compiler::compile and parseModule.
runtime::Status makePlan(const PlanRequest &request, const std::string &folder,
                         mlir::MLIRContext &context,
                         mlir::OwningOpRef<mlir::ModuleOp> &module);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EFFECTS_PLANS_H
