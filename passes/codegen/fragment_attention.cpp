//===- fragment_attention.cpp - calls of attention ------------------------===//
#include "passes/codegen/fragment_emitter.h"

#include "dialects/mtc/Mtc.h"
#include "passes/target/attention_call.h"
#include "passes/target/target.h"

#include <array>
#include <bit>

using namespace mlir;

namespace mtc::codegen {

/// The MtcAttention of a call, as a constant of the program. All its fields are
/// 8 bytes wide, so it is written as an array of words.
Value FragmentEmitter::attentionShape(rt::AttentionOp op) {
  MtcAttention d = target::attentionCall(op);
  auto words = std::bit_cast<std::array<int64_t, sizeof(MtcAttention) / 8>>(d);

  auto type = LLVM::LLVMArrayType::get(int64, words.size());
  auto value = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(words.size())}, int64),
      ArrayRef(words));
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getValueOrNull() == value)
      return LLVM::AddressOfOp::create(b, loc, ptr, global.getSymName());
  int64_t index = llvm::range_size(module.getOps<LLVM::GlobalOp>());
  std::string name = "mtc_attention_shape" + std::to_string(index);
  OpBuilder outer = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(outer, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::Internal, name, value, /*alignment=*/8);
  return LLVM::AddressOfOp::create(b, loc, ptr, name);
}

FailureOr<Value> FragmentEmitter::sampleOf(rt::AttentionOp op) {
  if (target::Target::chipOf(configOf(module)->getTarget()).empty())
    return values.lookup(op.getSample());
  auto affine = op.getSample().getDefiningOp<rt::AffineOp>();
  if (!affine || affine.getValue()[rt::kSample] != 1)
    return op.emitOpError("expected a sample that is counted from that of the "
                          "step, which attention on a GPU adds; found another");
  auto split = splitScalar(op.getSample());
  if (failed(split))
    return failure();
  return split->first;
}

LogicalResult FragmentEmitter::emitAttention(rt::AttentionOp op) {
  Value shape = attentionShape(op);
  Type element =
      cast<MemRefType>(op.getInputs()[op.getBackward() ? 3 : 0].getType())
          .getElementType();
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  auto part = [&](ArrayRef<Value> tensors, unsigned fusedIndex, unsigned i,
                  bool fused) -> Value {
    if (!fused)
      return tensors[fusedIndex + i];
    // q, k, v inside the stack dimension of one tensor.
    auto s =
        cast<MemRefType>(op.getInputs()[op.getBackward() ? 3 : 0].getType())
            .getShape();
    int64_t before = i == 0 ? 0 : (s[3] - 3 + static_cast<int64_t>(i));
    return at(tensors[fusedIndex], elementBytes * before * s[4]);
  };
  SmallVector<Value> in, out;
  for (Value v : op.getInputs())
    in.push_back(values.lookup(v));
  for (Value v : op.getInits())
    out.push_back(values.lookup(v));
  Value space = op.getScratch() ? values.lookup(op.getScratch()) : null();
  Value documents =
      op.getDocuments() ? values.lookup(op.getDocuments()) : null();
  FailureOr<Value> sample = sampleOf(op);
  if (failed(sample))
    return failure();
  Value head = values.lookup(op.getHead());
  SmallVector<Value> begin = {i64(0), i64(target::attentionCall(op).first)};
  for (auto [i, position] : llvm::enumerate(op.getPositions()))
    begin[i] = values.lookup(position);
  if (!op.getBackward()) {
    bool fused = in.size() == 1;
    call("mtc_attention_forward",
         {context, shape, part(in, 0, 0, fused), part(in, 0, 1, fused),
          part(in, 0, 2, fused), documents, out[0], out[1], space, *sample,
          head, begin[0], begin[1]});
    return success();
  }
  bool fused = in.size() == 4;
  call("mtc_attention_backward",
       {context, shape, in[0], part(in, 3, 0, fused), part(in, 3, 1, fused),
        part(in, 3, 2, fused), documents, in[1], in[2], part(out, 0, 0, fused),
        part(out, 0, 1, fused), part(out, 0, 2, fused), space, *sample, head,
        begin[0], begin[1]});
  return success();
}

} // namespace mtc::codegen
