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

template <typename Op> const OptimizerInfo &rowOf() {
  static const OptimizerInfo row = {Op::stateNames(), create<Op>};
  return row;
}

} // namespace

const OptimizerInfo &optimizerOf(OptimizerKind kind) {
  switch (kind) {
  case OptimizerKind::AdamW:
    return rowOf<AdamwOp>();
  }
  llvm_unreachable("an optimizer without a row");
}

} // namespace mtc::tfm
