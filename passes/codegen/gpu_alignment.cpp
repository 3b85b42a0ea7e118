//===- gpu_alignment.cpp - what addresses of kernel operands share --------===//
#include "passes/codegen/gpu_alignment.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

static int64_t alignmentOf(Value buffer) {
  if (auto view = buffer.getDefiningOp<rt::ViewOp>()) {
    int64_t bytes = std::gcd(codegen::kAllocationAlignment,
                             static_cast<int64_t>(view.getOffset()));
    return view.getStride()
               ? std::gcd(bytes, static_cast<int64_t>(*view.getStride()))
               : bytes;
  }
  Type element = cast<ShapedType>(buffer.getType()).getElementType();
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

std::map<std::string, SmallVector<int64_t>>
codegen::alignmentsOf(Operation *source) {
  std::map<std::string, SmallVector<int64_t>> result;
  source->walk([&](rt::LaunchOp launch) {
    SmallVector<Value> buffers = launch.getBuffers();
    // Those of tensors are the plan's account of itself, not code.
    if (llvm::any_of(buffers,
                     [](Value v) { return isa<TensorType>(v.getType()); }))
      return;
    auto [entry, isNew] = result.try_emplace(
        launch.getKernel().str(),
        SmallVector<int64_t>(buffers.size(), kAllocationAlignment));
    for (auto [bytes, buffer] : llvm::zip_equal(entry->second, buffers))
      bytes = std::gcd(bytes, alignmentOf(buffer));
  });
  return result;
}
