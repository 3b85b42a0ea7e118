//===- model_cost.cpp - what parts of a model compute ---------------------===//

#include "compiler/model_cost.h"

#include "dialects/tfm/Tfm.h"

#include <algorithm>
#include <map>

using Policy = mtc::models::Recompute::Policy;

namespace mtc::compiler {
namespace {

/// Two for each product of elements and its sum.
int64_t operationsOf(tfm::EinsumOp op) {
  tfm::Equation equation;
  tfm::parseEquation(op.getEquation(), equation);
  std::map<char, int64_t> sizes;
  auto look = [&](const std::string &factors, mlir::Value value) {
    auto shape = mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
    for (size_t dim = 0; dim < factors.size(); ++dim)
      sizes[factors[dim]] = shape[dim];
  };
  look(equation.lhs, op.getLhs());
  look(equation.rhs, op.getRhs());
  int64_t operations = 2;
  for (auto [factor, size] : sizes)
    operations *= size;
  return operations;
}

/// Scores and their product with the values; half of them where causal.
int64_t operationsOf(tfm::AttentionOp op) {
  auto out = mlir::cast<mlir::RankedTensorType>(op.getOut().getType());
  int64_t operations = 4 * out.getNumElements() * out.getDimSize(1);
  return op.getCausal() ? operations / 2 : operations;
}

bool computesAgain(const models::Recompute &recompute, const char *family,
                   bool isLayer) {
  switch (recompute.policy) {
  case Policy::none:
  case Policy::layers:
  case Policy::microbatches:
  case Policy::fit:
    return false;
  case Policy::selective:
    return isLayer && std::string_view(family) == "attention";
  case Policy::full:
    return isLayer;
  case Policy::ops:
    return isLayer &&
           std::find(recompute.families.begin(), recompute.families.end(),
                     family) != recompute.families.end();
  }
  return false;
}

} // namespace

models::ModelCost costOf(mlir::ModuleOp module,
                         const models::Recompute &recompute, int64_t layers) {
  models::ModelCost cost;
  cost.layers.assign(static_cast<size_t>(layers), 0);
  auto add = [&](mlir::Operation *op, int64_t forward, int64_t backward,
                 const char *family) {
    int64_t layer = tfm::layerOf(op);
    bool isLayer = layer >= 1 && layer <= layers;
    int64_t &sum = isLayer      ? cost.layers[static_cast<size_t>(layer - 1)]
                   : layer == 0 ? cost.before
                                : cost.behind;
    sum += forward + backward;
    if (computesAgain(recompute, family, isLayer))
      sum += forward;
  };
  module.walk([&](mlir::Operation *op) {
    // The gradients of both operands are products of the same size.
    if (auto einsum = mlir::dyn_cast<tfm::EinsumOp>(op))
      add(op, operationsOf(einsum), 2 * operationsOf(einsum), "einsum");
    // Five products in the backward, where the forward has two.
    if (auto attention = mlir::dyn_cast<tfm::AttentionOp>(op))
      add(op, operationsOf(attention), operationsOf(attention) / 2 * 5,
          "attention");
  });
  return cost;
}

} // namespace mtc::compiler
