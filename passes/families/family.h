//===- family.h - what each op family brings --------------------*- C++ -*-===//
//
// Adding an op means one td entry and one file here with three things: its
// sharding rule, its gradient and its lowering to a kernel body. Passes ask for
// them by op interfaces. A test walks all registered ops of tfm and demands all
// three, or a stated reason.
//
// Passes name ops themselves only where they mean that op and no other:
//
// * save, restore, export, stop_gradient, whole: they compute nothing;
//   differentiate, derive-eval, cut-stages and insert-collectives put them into
//   place.
// * add, broadcast: sharding passes regroup a sum, and make only a part of a
//   broadcast. embed, norm, pick, reduce: reports name a collective by them.
// * einsum, broadcast, add, activation: what products of a GPU do before they
//   round is of these (epilogue.h).
// * einsum, attention: lower-calls makes calls of them. fill, cast:
//   form-clusters lets readers make them themselves.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_FAMILY_H
#define MTC_PASSES_FAMILIES_FAMILY_H

#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"
#include "passes/families/sharding_rule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallVector.h"

namespace mtc::families {
using Values = llvm::SmallVector<mlir::Value>;
class BodyContext;
} // namespace mtc::families

#include "passes/families/FamilyInterfaces.h.inc"

namespace mtc::families {

/// Makes the ops of tfm implement the interfaces in every context that loads
/// `registry`.
void registerFamilies(mlir::DialectRegistry &registry);

/// The factors of an n-dimensional value, starting at `first`: "abc".
std::string factors(int64_t rank, char first = 'a');

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_FAMILY_H
