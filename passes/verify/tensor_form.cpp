//===- tensor_form.cpp - fragments on tensors -----------------------------===//
#include "passes/verify/forms.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mtc::passes::verify {

Placement TensorForm::placementOf(Value value) {
  if (!placements.count(value) && isa<RankedTensorType>(value.getType()))
    placements[value] = {
        {SpaceKind::Tensor, tensors++}, 0, rt::bytesOf(value.getType())};
  return placements.lookup(value);
}

void TensorForm::define(Value value, StringRef text) {
  contents.write(placementOf(value), numbers.leaf(text), value.getDefiningOp());
}

void TensorForm::expectPlacement(Operation &op, StringRef what) {
  if (placements.lookup(op.getResult(0)).space.kind == SpaceKind::Nowhere)
    report.error(&op) << "expected " << what
                      << " of this program in the tensor form, found "
                      << op.getResult(0).getType() << " of another";
}

static SpaceKind spaceOf(rt::RefKind kind) {
  switch (kind) {
  case rt::RefKind::Param:
    return SpaceKind::Param;
  case rt::RefKind::Grad:
    return SpaceKind::Grad;
  case rt::RefKind::State:
    return SpaceKind::State;
  case rt::RefKind::Loss:
    return SpaceKind::Loss;
  case rt::RefKind::Staging:
    return SpaceKind::Staging;
  case rt::RefKind::Packed:
    return SpaceKind::Packed;
  }
  return SpaceKind::Nowhere;
}

Placement TensorForm::placementOfRef(rt::RefOp ref) const {
  int64_t bytes = rt::bytesOf(ref.getType());
  bool isStaging = ref.getKind() == rt::RefKind::Staging;
  if (ref.getParam())
    return isStaging
               ? lasting.staging(*ref.getParam(), *ref.getUse(), bytes)
               : lasting.accumulator(*ref.getParam(), *ref.getUse(), bytes);
  int64_t bucket = ref.getBucket().value_or(0);
  if (isStaging)
    return lasting.staging(bucket, /*start=*/0, bytes);
  return lasting.part(lasting.space(spaceOf(ref.getKind()), bucket,
                                    ref.getState().value_or("")),
                      ref.getStart().value_or(0), bytes);
}

void TensorForm::restore(pipe::SavedOp op) {
  auto it = kept.find(op.getKey());
  if (it == kept.end())
    report.error(op) << "expected a key that an earlier fragment keeps in the "
                        "tensor form, found "
                     << op.getKey();
  else
    contents.write(placementOf(op), it->second, op);
}

/// What an empty tensor holds is no value: ops only write over it.
void TensorForm::expectUnread(tensor::EmptyOp empty) {
  for (OpOperand &use : empty->getUses()) {
    auto buffers = buffersOf(*use.getOwner());
    if (failed(buffers))
      continue; // rejected there
    bool isOverwritten = llvm::any_of(*buffers, [&](const rt::Access &buffer) {
      return buffer.operand == &use && !buffer.kind.reads;
    });
    if (!isOverwritten)
      report.error(use.getOwner())
          << "expected a value to read in the tensor form, found an empty "
             "tensor, which holds none";
  }
}

void TensorForm::reject(Operation &call) {
  report.error(&call)
      << "expected a kernel of the tensor form, and the buffers "
         "that it has, found others";
}

void TensorForm::visit(Operation &op) {
  TypeSwitch<Operation *>(&op)
      .Case([&](pipe::ParamOp param) {
        placements[param] =
            lasting.parameter(param.getName(), rt::bytesOf(param.getType()));
        expectPlacement(op, "a parameter");
      })
      .Case([&](rt::RefOp ref) {
        placements[ref] = placementOfRef(ref);
        expectPlacement(op, "a part of a bucket");
      })
      .Case([&](tensor::EmptyOp empty) { expectUnread(empty); })
      .Case([&](pipe::InputOp input) {
        define(input, inputLeaf(input.getName()));
      })
      .Case([&](pipe::ReceivedOp op) {
        define(op, received(op.getName(), chunk));
      })
      .Case([&](pipe::SavedOp op) { restore(op); })
      .Case([&](pipe::SaveOp op) {
        Number number = read(placementOf(op.getValue()));
        kept[op.getKey()] = number;
        left.push_back({op, number});
      })
      .Case<pipe::SendOp, pipe::ExportOp>([&](auto op) {
        left.push_back({op, read(placementOf(op.getValue()))});
      })
      .Case<rt::RecordOp, rt::WaitOp, func::ReturnOp>([](auto) {})
      .Default([&](Operation *op) {
        report.error(op) << "expected ops that lower-calls leaves in the "
                            "tensor form, found another";
      });
}

} // namespace mtc::passes::verify
