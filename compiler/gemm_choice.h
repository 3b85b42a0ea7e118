//===- gemm_choice.h - products by a table that was measured ----*- C++ -*-===//
#ifndef MTC_COMPILER_GEMM_CHOICE_H
#define MTC_COMPILER_GEMM_CHOICE_H

#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace mtc::compiler {

/// What a table of `mtc tune` has chosen in a plan.
struct GemmChoices {
  std::string file;           ///< the table's; empty: there was none
  std::string processor;      ///< on which it was measured
  int64_t byTable = 0;        ///< rt.gemm of all programs that it has
  int64_t byRule = 0;         ///< and that it lacks
  int64_t byLibrary = 0;      ///< of those of the table, by oneDNN
  int64_t byInnerProduct = 0; ///< and of these, by its inner_product
  /// Of those of the table, ours though oneDNN is faster: a kernel can continue
  /// them (pointwise), unless a wait comes between.
  int64_t continued = 0;
  /// Of those of the table, the ones for which it says that packing their
  /// weight once a step takes less time.
  int64_t packing = 0;
};

/// Notes in a plan which table its products are to be chosen from, by its
/// path behind all links: saved IR says so until they are, and may be read
/// elsewhere.
/// An empty path is none.
void setGemmTable(mlir::ModuleOp plan, const std::string &file);

/// Gives each product of each plan of `module` (join_plans.h) the kernel that
/// the noted table has for it; one that it lacks keeps that of the rule. For a
/// CPU, behind store-gradients, which says what the first microbatch stores; a
/// gradient of a weight is looked up as most microbatches of a step make it.
/// What a kernel continues (pointwise) stays ours. With `prepack` a product of
/// training whose b is a weight is told (`packs`) whether packing that once a
/// step takes less time, and is ours if so; the product counts as often as
/// there are microbatches, also where recomputation runs another of the same
/// weight beside it. Where the table has no such times, pack-weights has a rule
/// of its own. The file is read once, for all plans; the note goes. Errors:
/// inputRejected, of the file; usage, for a table of other kernels or another
/// instruction set; infeasible, where the table names a kernel that has no such
/// product here, a note is no path or on no plan of a CPU, or plans have
/// different ones.
runtime::Status chooseGemmKernels(mlir::ModuleOp module, GemmChoices &out);

/// IR behind the choice has no note any more: one that is still there was never
/// followed, as passes of mtc-opt follow none. Errors: infeasible.
runtime::Status checkGemmsAreChosen(mlir::ModuleOp module);

} // namespace mtc::compiler
#endif // MTC_COMPILER_GEMM_CHOICE_H
