//===- Tfm.h - the tfm dialect ----------------------------------*- C++ -*-===//
#ifndef MTC_DIALECTS_TFM_H
#define MTC_DIALECTS_TFM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mtc::tfm {
/// A sum, made in f32: its result may be wider than its operands, so that the
/// gradient of a parameter is not rounded.
template <typename Op>
class SumsInF32 : public mlir::OpTrait::TraitBase<Op, SumsInF32> {};
/// Cheap enough to compute again in the backward instead of being saved.
template <typename Op>
class Cheap : public mlir::OpTrait::TraitBase<Op, Cheap> {};
} // namespace mtc::tfm

#include "dialects/tfm/TfmDialect.h.inc"
#include "dialects/tfm/TfmEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tfm/TfmAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/tfm/TfmOps.h.inc"

namespace mtc::tfm {

/// The three letter groups of an einsum equation "ab,bc->ac".
struct Equation {
  std::string lhs, rhs, result;
};
/// Parses an equation; false if it is not of that form.
bool parseEquation(llvm::StringRef text, Equation &equation);

/// Whether a norm of that kind subtracts the mean, and so saves it.
bool subtractsMean(NormKind kind);

/// Names of the discardable attributes that every op carries.
inline constexpr llvm::StringLiteral layerAttr = "tfm.layer";
inline constexpr llvm::StringLiteral phaseAttr = "tfm.phase";

/// The number of a forward op, from import on: others name it by that.
inline constexpr llvm::StringLiteral idAttr = "tfm.id";
/// On an op of the backward that computes again what one of the forward
/// computed: the number of that one.
inline constexpr llvm::StringLiteral recomputesAttr = "tfm.recomputes";

/// On an op of one result that is to lie as the strategy's table says, as
/// parameters do: the logical axis of each dimension, "" where it has none. An
/// array of strings.
inline constexpr llvm::StringLiteral axesAttr = "tfm.axes";

/// On an argument of @microbatch that is a parameter: how many uses it has, and
/// so gradients; 1 if it is not there. An integer.
inline constexpr llvm::StringLiteral usesAttr = "tfm.uses";
/// That of argument `arg` of a function.
int64_t usesOf(mlir::FunctionOpInterface fn, unsigned arg);
/// Fails, with a diagnostic for each, on parameters of `fn` of which it does
/// not return as many gradients as they have uses.
mlir::LogicalResult checkUses(mlir::FunctionOpInterface fn);

/// Fails, with a diagnostic for each, on ops of `fn` with `tfm.recomputes` that
/// do not compute again what the named op of the forward computed: another op,
/// or on other values than what that op reads, restored or computed again in
/// the same layer.
mlir::LogicalResult checkCopies(mlir::FunctionOpInterface fn);

/// The op's layer, or -1 if it has none.
int64_t layerOf(mlir::Operation *op);
/// True if the op is marked as backward.
bool isBackward(mlir::Operation *op);

} // namespace mtc::tfm
#endif // MTC_DIALECTS_TFM_H
