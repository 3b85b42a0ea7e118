//===- update_kernel.cpp - what a kernel over a flat range does -----------===//
#include "passes/verify/update_kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// Follows which operands each value of a body depends on.
class Reader {
public:
  explicit Reader(rt::KernelOp kernel) : kernel(kernel) {}

  std::optional<FlatKernel> run() {
    if (kernel.getRows() != 1 || kernel.getCols() >= 0 || kernel.getArgs() != 0)
      return std::nullopt;
    for (auto info : kernel.getOperandsInfo().getAsRange<rt::OperandAttr>()) {
      if (info.getMode() != rt::Mode::Full &&
          info.getMode() != rt::Mode::Scalar)
        return std::nullopt;
      result.operands.push_back({info.getMode() == rt::Mode::Scalar});
    }
    for (Operation &op : kernel.getBody().front())
      if (!visit(op))
        return std::nullopt;
    findRounded();
    return std::move(result);
  }

private:
  using Operands = std::set<int64_t>;

  /// False for an op that is not known to work on each element alone.
  bool visit(Operation &op) {
    if (auto load = dyn_cast<rt::LoadOp>(op)) {
      result.operands[load.getOperand()].loaded = true;
      from[load] = {static_cast<int64_t>(load.getOperand())};
    } else if (auto store = dyn_cast<rt::StoreOp>(op)) {
      result.operands[store.getOperand()].storedFrom = from[store.getValue()];
      stored.push_back({store.getOperand(), store.getValue()});
    } else if (auto add = dyn_cast<rt::AccumulateOp>(op)) {
      accumulate(add);
    } else if (op.getNumRegions() == 0 && isPure(&op) &&
               op.getName().getDialectNamespace() != "rt") {
      Operands all;
      for (Value operand : op.getOperands())
        all.insert(from[operand].begin(), from[operand].end());
      for (Value made : op.getResults())
        from[made] = all;
    } else {
      return false;
    }
    return true;
  }

  void accumulate(rt::AccumulateOp op) {
    FlatKernel::Operand &into = result.operands[op.getOperand()];
    Value value = op.getValue();
    if (auto wide = value.getDefiningOp<arith::ExtFOp>())
      value = wide.getIn();
    auto load = value.getDefiningOp<rt::LoadOp>();
    if (load && into.added < 0 && !into.addsOther)
      into.added = load.getOperand();
    else
      into.addsOther = true;
  }

  void findRounded() {
    for (auto &[operand, value] : stored)
      if (auto rounded = value.getDefiningOp<arith::TruncFOp>())
        for (auto &[other, wide] : stored)
          if (wide == rounded.getIn())
            result.operands[operand].roundedFrom = other;
  }

  rt::KernelOp kernel;
  FlatKernel result;
  SmallVector<std::pair<int64_t, Value>> stored; ///< by operand
  llvm::DenseMap<Value, Operands> from;          ///< looked up only
};

} // namespace

const FlatKernel *FlatKernels::find(StringRef name) {
  auto [it, fresh] = byName.try_emplace(name.str());
  std::optional<FlatKernel> &found = it->second;
  if (fresh)
    for (auto kernel : program.getOps<rt::KernelOp>())
      if (kernel.getSymName() == name)
        found = Reader(kernel).run();
  return found ? &*found : nullptr;
}

} // namespace mtc::passes::verify
