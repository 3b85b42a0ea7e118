//===- cases.h - every op of a plan in a fragment of its own ----*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EFFECTS_CASES_H
#define MTC_TEST_UNIT_EFFECTS_CASES_H

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::test {

/// One op that works on buffers, and the fragments that hold it and the
/// addresses it needs, one on each stage that has such an op.
struct Case {
  std::string name; ///< for people
  struct Instance {
    mlir::Operation *op; ///< inside its fragment
    std::string fragment;
  };
  std::map<int64_t, Instance> stages;

  mlir::Operation *op() const { return stages.begin()->second.op; }
  /// The op as IR has it.
  std::string text() const;
  /// Its ranks must run it at the same time.
  bool isCollective() const;
};

/// Replaces the fragments of a plan (plan-memory's result) by one for each
/// distinct op, and adds the forms of GEMMs and attention that the plan lacks.
/// Ops are the same if attributes, types and kernel are; what addresses they
/// work on is not looked at. Timelines become empty; what is no code and names
/// a fragment goes.
std::vector<Case> isolateOps(mlir::ModuleOp module);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EFFECTS_CASES_H
