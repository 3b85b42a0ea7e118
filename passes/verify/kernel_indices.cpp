//===- kernel_indices.cpp - the integers of a kernel's body ---------------===//
#include "passes/verify/kernel_indices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mtc::passes::verify {

static IndexForm compute(Operation &op, const KernelIndices &indices,
                         ArrayRef<IndexForm> arguments, IndexForms &forms) {
  auto operand = [&](unsigned i) { return indices.of(op.getOperand(i)); };
  auto divided = [&](bool isQuotient) -> IndexForm {
    APInt by;
    if (!matchPattern(op.getOperand(1), m_ConstantInt(&by)))
      return {};
    return isQuotient ? forms.div(operand(0), by.getSExtValue())
                      : forms.rem(operand(0), by.getSExtValue());
  };
  return TypeSwitch<Operation *, IndexForm>(&op)
      .Case([&](arith::ConstantOp constant) -> IndexForm {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        return number ? IndexForms::constant(number.getInt()) : IndexForm();
      })
      .Case([&](rt::IndexOp index) {
        return forms.variable(
            index.getKind() == rt::IndexKind::Row ? kRowIndex : kColIndex);
      })
      .Case([&](rt::ArgOp arg) {
        size_t at = arg.getIndex();
        return at < arguments.size() ? arguments[at] : IndexForm();
      })
      .Case([&](rt::LoadOp load) {
        return forms.variable(kFirstLoaded + load.getOperand());
      })
      .Case([&](arith::AddIOp) { return forms.add(operand(0), operand(1)); })
      .Case([&](arith::SubIOp) { return forms.sub(operand(0), operand(1)); })
      .Case([&](arith::MulIOp) { return forms.mul(operand(0), operand(1)); })
      .Case([&](arith::DivUIOp) { return divided(/*isQuotient=*/true); })
      .Case([&](arith::RemUIOp) { return divided(/*isQuotient=*/false); })
      .Case<arith::ExtUIOp, arith::TruncIOp>([&](auto) { return operand(0); })
      .Default([](Operation *) { return IndexForm(); });
}

KernelIndices::KernelIndices(rt::KernelOp kernel, ArrayRef<IndexForm> arguments,
                             IndexForms &forms) {
  for (Operation &op : kernel.getBody().front())
    if (op.getNumResults() == 1 && op.getResult(0).getType().isInteger())
      known[op.getResult(0)] = compute(op, *this, arguments, forms);
}
} // namespace mtc::passes::verify
