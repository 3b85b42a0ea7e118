//===- family.h - what each op family brings --------------------*- C++ -*-===//
//
// Adding an op means one td entry and one file here with three things: its
// sharding rule, its gradient and its lowering to a kernel body. A test walks
// all registered ops of tfm and demands all three, or a stated reason.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_FAMILY_H
#define MTC_PASSES_FAMILIES_FAMILY_H

#include "dialects/tfm/Tfm.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mtc::families {

/// How an op's dimensions correspond, in letters (einsum notation). A letter is
/// a factor: where it is split, all operands and results that carry it are
/// split on it. A letter of operands that no result has is contracted.
///
///   matmul   {"bse", "ef"} -> {"bsf"}     groups {{0}, {1}}
///   softmax  {"br"} -> {"br"}             blocked "r"
struct ShardingRule {
  std::vector<std::string> operands; ///< letters per operand, in order
  std::vector<std::string> results;
  std::string blocked; ///< letters that must not be split
  /// Groups of operands which may be partial sums together while all others are
  /// full; the results are then partial (linear in the group).
  std::vector<std::vector<int>> linear;
  /// What contraction over a split letter leaves: a partial sum or maximum.
  bool contractsToMax = false;
  /// Operand indices whose values are indices, not summands (ids, labels): the
  /// op tolerates a split result letter by masking (embed, pick).
  /// Such a letter stands in a result or operand only; see embedding.cpp.
  std::string maskedLetters;
  /// Backward of a norm: linear, but never a carrier of partial sums by default
  /// (sharding.md trap T4).
  bool normBackward = false;
  /// Each element has a number, that of its place in the whole sample (random
  /// words): a loop nest must be the op's own, and a split dimension but the
  /// first, which is the sample's, changes local numbers.
  bool numbered = false;
};
using RuleFn = std::function<ShardingRule(mlir::Operation *)>;

/// Builds the cotangents of an op's operands. `cotangents[i]` belongs to result
/// i and is null where nothing flows. Returns one value per operand, null where
/// no gradient flows. The builder marks what it makes as backward; values of
/// the forward may be used directly (`differentiate` saves them).
using GradientFn = std::function<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &, mlir::Operation *, mlir::ValueRange cotangents)>;

/// Emits the op as scalar arithmetic (arith, math, rt.*) into a kernel body.
/// `operands` are the element values of the op's operands at the current
/// position. Returns one element value per result. See kernel_body.h.
class BodyContext;
using BodyFn = std::function<llvm::SmallVector<mlir::Value>(
    BodyContext &, mlir::Operation *, mlir::ValueRange operands)>;

/// Everything about one op. An absent entry needs a reason.
struct OpFamily {
  RuleFn rule;
  GradientFn gradient;
  BodyFn body;
  std::string noGradient, noBody; ///< reason, where one is absent
  /// A sum, made in f32: its result may be wider than its operands, so that the
  /// gradient of a parameter is not rounded.
  bool widens = false;
  /// Cheap enough to compute again in the backward instead of being saved.
  bool rematerializable = false;
};

/// The family entry of an op; null if it is not registered.
const OpFamily *lookup(mlir::Operation *op);
const OpFamily *lookup(llvm::StringRef opName);

/// Called once by each family file's register function.
void add(llvm::StringRef opName, OpFamily family);

/// The letters of an n-dimensional value, starting at `first`: "abc".
std::string letters(int64_t rank, char first = 'a');

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_FAMILY_H
