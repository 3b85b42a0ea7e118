//===- epilogue.cpp - what a product may do before it rounds --------------===//
#include "passes/families/epilogue.h"

using namespace mlir;

namespace mtc::families {

/// Whether a broadcast repeats its operand along all but the last dimensions.
static bool isOfColumns(tfm::BroadcastOp op) {
  ArrayRef<int64_t> dims = op.getDims();
  int64_t first = cast<ShapedType>(op.getResult().getType()).getRank() -
                  static_cast<int64_t>(dims.size());
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim != first + static_cast<int64_t>(i))
      return false;
  return !dims.empty();
}

std::optional<ColumnBias> columnBias(Operation *op) {
  auto sum = dyn_cast<tfm::AddOp>(op);
  if (!sum || sum.getInputs().size() != 2)
    return std::nullopt;
  for (int i : {0, 1}) {
    auto product = sum.getInputs()[i].getDefiningOp<tfm::EinsumOp>();
    auto spread = sum.getInputs()[1 - i].getDefiningOp<tfm::BroadcastOp>();
    if (!product || !spread || !isOfColumns(spread))
      continue;
    // What is made in another type is rounded to that first.
    Type type = getElementTypeOrSelf(product.getResult().getType());
    if (type == getElementTypeOrSelf(product.getLhs().getType()))
      return ColumnBias{product, spread.getX()};
  }
  return std::nullopt;
}

bool isGelu(Operation *op) {
  auto activation = dyn_cast<tfm::ActivationOp>(op);
  return activation && activation.getKind() == tfm::ActivationKind::Gelu;
}

} // namespace mtc::families
