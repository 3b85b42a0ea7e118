//===- verify_join.h - a joined program does what its plans do --*- C++ -*-===//
#ifndef MTC_COMPILER_VERIFY_JOIN_H
#define MTC_COMPILER_VERIFY_JOIN_H

#include "compiler/run_phase.h"
#include "dialects/rt/Rows.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::compiler {

/// Holds what joinPlans makes to the plans that verify-plan saw, one by one:
/// their timelines, the fragments that rows run and the kernels that these
/// launch, apart from names; inputs, exports and arenas. Takes time linear in
/// the plans. Of a plan that is alone it does nothing.
///
///   JoinProof proof(module);
///   if (failed(joinPlans(module)) || failed(proof.check(module))) ...
class JoinProof {
public:
  /// Notes what the plans in `module` do, before they are joined.
  explicit JoinProof(mlir::ModuleOp module);

  /// Fails, with a diagnostic for each difference, if `joined` lacks something
  /// of a plan, does it in another way, or has more.
  mlir::LogicalResult check(mlir::ModuleOp joined);

private:
  /// Equal things have equal numbers.
  using Key = std::vector<uintptr_t>;
  uintptr_t number(const Key &key) {
    return numbers.try_emplace(key, numbers.size()).first->second;
  }

  /// What a stage does for steps of one kind.
  struct Entry {
    rt::Rows rows; ///< fragments have their numbers as names
    int64_t sequence = 0, microbatches = 0;
    uintptr_t inputs = 0;
  };
  struct Stage {
    std::map<std::string, Entry> entries; ///< by the name that joined ones have
    uintptr_t lasting = 0; ///< parameters, buckets, the place of the loss
    std::string library;   ///< of products; empty: the plan uses none
    std::vector<int64_t> arenas;
  };
  class Reading; ///< of one program

  mlir::LogicalResult compare(mlir::Operation *program, const Stage &expected,
                              const Stage &found);

  std::map<Key, uintptr_t> numbers;
  /// By number of the stage; of each plan, the largest first.
  std::vector<std::map<int64_t, Stage>> plans;
};

/// joinPlans and, if `verify`, a proof of what it made. What fails is an error
/// of mtc, or of who edited the IR.
runtime::Status joinVerified(mlir::ModuleOp module, bool verify,
                             DiagnosticLog &log);

} // namespace mtc::compiler
#endif // MTC_COMPILER_VERIFY_JOIN_H
