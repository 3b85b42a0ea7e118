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

template <typename Op> OptimizerInfo row(std::string_view name) {
  return {name, Op::stateNames(), create<Op>};
}

} // namespace

ArrayRef<OptimizerInfo> optimizers() {
  static const OptimizerInfo rows[] = {row<AdamwOp>("adamw")};
  return rows;
}

const OptimizerInfo *optimizerNamed(StringRef name) {
  for (const OptimizerInfo &optimizer : optimizers())
    if (name == StringRef(optimizer.name))
      return &optimizer;
  return nullptr;
}

} // namespace mtc::tfm
