//===- kernel_values.cpp - what kernels compute ---------------------------===//
#include "passes/verify/kernel_values.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// Runs a body once: operands hold numbers for their elements.
class KernelNumberer {
public:
  KernelNumberer(rt::KernelOp kernel, Numbers &numbers)
      : kernel(kernel), numbers(numbers) {}

  KernelValues run() {
    KernelValues result;
    result.effects = kernel.getOperandAccesses();
    for (auto [i, info] : llvm::enumerate(kernel.getOperandsInfo())) {
      Recipe recipe{wordOf(By::Operand), wordOf(info.getAsOpaquePointer()),
                    int64_t(i)};
      now.push_back(numbers.make(recipe, {}, nullptr));
    }
    for (Operation &op : kernel.getBody().front())
      visit(op);
    for (auto [i, number] : llvm::enumerate(now)) {
      Recipe recipe{wordOf(By::Kernel), int64_t(i), kernel.getRows(),
                    kernel.getCols(), kernel.getArgs()};
      result.made.push_back(numbers.make(recipe, number, kernel));
      result.copyOf.push_back(copyOf(i, result.effects));
    }
    return result;
  }

private:
  /// The operand of the kernel that an op of its body works on, or -1.
  static int64_t operandOf(Operation &op) {
    auto operand = isa<rt::LoadOp, rt::StoreOp, rt::AccumulateOp, rt::GatherOp,
                       rt::ScatterAddOp>(op)
                       ? op.getAttrOfType<IntegerAttr>("operand")
                       : IntegerAttr();
    return operand ? operand.getInt() : -1;
  }

  void visit(Operation &op) {
    Recipe recipe{wordOf(By::Body), wordOf(op.getName().getAsOpaquePointer()),
                  wordOf(op.getAttrDictionary().getAsOpaquePointer())};
    for (Type type : op.getResultTypes())
      recipe.push_back(wordOf(type.getAsOpaquePointer()));
    SmallVector<Number> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    int64_t at = operandOf(op);
    if (at >= 0)
      operands.push_back(now[at]);
    Number number = numbers.make(recipe, operands, &op);
    for (OpResult result : op.getResults())
      values[result] = result.getResultNumber() == 0
                           ? number
                           : numbers.make({wordOf(By::Result),
                                           int64_t(result.getResultNumber())},
                                          number, &op);
    if (at >= 0 && op.getNumResults() == 0)
      now[at] = number;
  }

  /// The operand that is stored in operand `to` element by element, if that is
  /// all that is done to either; or -1.
  int64_t copyOf(int64_t to, ArrayRef<rt::AccessKind> effects) {
    rt::StoreOp store;
    for (Operation &op : kernel.getBody().front())
      if (operandOf(op) == to &&
          (store || !(store = dyn_cast<rt::StoreOp>(op))))
        return -1;
    auto load =
        store ? store.getValue().getDefiningOp<rt::LoadOp>() : rt::LoadOp();
    if (!load || kernel.getCols() < 0 || effects[load.getOperand()].writes)
      return -1;
    ArrayAttr infos = kernel.getOperandsInfo();
    auto info = cast<rt::OperandAttr>(infos[to]);
    bool alike = info.getMode() == rt::Mode::Full &&
                 infos[load.getOperand()] == Attribute(info);
    return alike ? load.getOperand() : -1;
  }

  rt::KernelOp kernel;
  Numbers &numbers;
  SmallVector<Number> now;              ///< what each operand holds
  llvm::DenseMap<Value, Number> values; ///< looked up only
};

} // namespace

Kernels::Kernels(Block &holder, Numbers &numbers) {
  for (auto kernel : holder.getOps<rt::KernelOp>())
    byName[kernel.getSymName()] = KernelNumberer(kernel, numbers).run();
}

const KernelValues *Kernels::find(StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &it->second;
}

} // namespace mtc::passes::verify
