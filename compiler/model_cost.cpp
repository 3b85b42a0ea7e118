//===- model_cost.cpp - what parts of a model compute ---------------------===//

#include "compiler/model_cost.h"

#include "dialects/rt/Work.h"
#include "dialects/tfm/Tfm.h"
#include "models/import/import.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using Policy = mtc::models::Recompute::Policy;
using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Two for each product of elements and its sum.
int64_t operationsOf(tfm::EinsumOp op) {
  tfm::Equation equation;
  tfm::parseEquation(op.getEquation(), equation);
  std::map<char, int64_t> sizes;
  auto look = [&](const std::string &factors, mlir::Value value) {
    auto shape = typeOf(value).getShape();
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

int64_t operationsOf(mlir::Value out, bool isBackward, bool isCausal) {
  double all = rt::attentionFlops(typeOf(out).getNumElements(),
                                  typeOf(out).getDimSize(1), isBackward);
  return static_cast<int64_t>(isCausal ? all / 2 : all);
}

/// Of products and attention; 0 of all others.
int64_t operationsOf(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, int64_t>(op)
      .Case([](tfm::EinsumOp einsum) { return operationsOf(einsum); })
      .Case([](tfm::AttentionOp attention) {
        return operationsOf(attention.getOut(), false, attention.getCausal());
      })
      .Case([](tfm::AttentionGradOp grad) {
        return operationsOf(grad.getDout(), true, grad.getCausal());
      })
      .Default(int64_t(0));
}

/// The strategy whose plan computes what is counted: in one stage, as nobody
/// knows yet which layers the others have.
models::Strategy inOneStage(models::Strategy strategy, int64_t layers) {
  strategy.mesh[MTC_AXIS_PP] = 1;
  strategy.chunks = 1;
  strategy.layersPerStage = {layers};
  Policy policy = strategy.recompute.policy;
  if (policy != Policy::selective && policy != Policy::full &&
      policy != Policy::ops)
    strategy.recompute = {};
  return strategy;
}

} // namespace

Status costOf(mlir::ModuleOp module, const models::ModelSpec &spec,
              const models::Strategy &strategy, DiagnosticLog &log,
              models::ModelCost &cost) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  models::setConfig(*copy, spec, inOneStage(strategy, spec.layers));
  mlir::TimingScope untimed;
  for (Phase phase : {Phase::differentiate, Phase::planRecompute})
    MTC_RETURN_IF_ERROR(runPhase(phase, *copy, log, untimed, IRCheck::none));
  cost = {};
  cost.layers.assign(static_cast<size_t>(spec.layers), 0);
  copy->walk([&](mlir::Operation *op) {
    if (int64_t operations = operationsOf(op)) {
      int64_t layer = tfm::layerOf(op);
      (layer <= 0             ? cost.before
       : layer <= spec.layers ? cost.layers[static_cast<size_t>(layer - 1)]
                              : cost.behind) += operations;
    }
  });
  return Status::okay();
}

} // namespace mtc::compiler
