//===- Optimizers.cpp - the optimizers of the dialect ---------------------===//
#include "dialects/tfm/Optimizers.h"

#include "dialects/tfm/Tfm.h"

using namespace mlir;

namespace mtc::tfm {
namespace {

template <typename Op>
Operation *create(OpBuilder &b, Location loc, Value param, Value gradient,
                  ValueRange states, bool decay) {
  SmallVector<Value> operands{param, gradient};
  llvm::append_range(operands, states);
  SmallVector<Type> results(1 + states.size(), param.getType());
  auto op = Op::create(b, loc, results, operands);
  op.setDecay(decay);
  return op;
}

Operation *createNesterov(OpBuilder &b, Location loc, Value param,
                          Value gradient, ValueRange states, bool decay) {
  Operation *op = create<SgdOp>(b, loc, param, gradient, states, decay);
  cast<SgdOp>(op).setNesterov(true);
  return op;
}

template <typename Op, auto make = create<Op>> const OptimizerInfo &rowOf() {
  static const OptimizerInfo row = {Op::stateNames(), make};
  return row;
}

} // namespace

const OptimizerInfo &optimizerOf(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::AdamW:
    return rowOf<AdamwOp>();
  case OptimizerKind::AdamL2:
    return rowOf<AdamL2Op>();
  case OptimizerKind::Sgd:
    return rowOf<SgdOp>();
  case OptimizerKind::Nesterov:
    return rowOf<SgdOp, createNesterov>();
  case OptimizerKind::Lion:
    return rowOf<LionOp>();
  }
  llvm_unreachable("an optimizer without a row");
}

} // namespace mtc::tfm
