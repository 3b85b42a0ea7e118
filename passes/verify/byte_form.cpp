//===- byte_form.cpp - fragments on views ---------------------------------===//
#include "passes/verify/forms.h"

using namespace mlir;

namespace mtc::passes::verify {

std::string received(CrossingName name, int64_t chunk) {
  return "the " + name.text() + " that is received" +
         (chunk == 0 ? "" : " by chunk " + std::to_string(chunk));
}

std::string inputLeaf(StringRef name) {
  return ("the input \"" + name + "\"").str();
}

void ByteForm::load(const Model &model, const Stage &stage, StringRef entry) {
  for (auto input : stage.op.getOps<rt::InputSlotOp>()) {
    if (input.getEntry() != entry)
      continue;
    Placement placement = at(MTC_ARENA_ACTIVATIONS, input.getPool(),
                             input.getOffset(), model.inputBytes);
    for (int64_t each = 0; each < model.chunks; ++each) {
      placement.space.chunk = each;
      contents.write(placement, numbers.leaf(inputLeaf(input.getName())),
                     input);
    }
  }
}

/// The name of what arrives in a space, if something does.
static std::optional<CrossingName> arrivingIn(const Space &space) {
  if (space.kind != SpaceKind::Pool)
    return std::nullopt;
  auto end = crossingEnd(static_cast<MtcPool>(space.index));
  return end && !end->sends ? std::optional(end->name) : std::nullopt;
}

Placement ByteForm::at(MtcArena arena, std::optional<MtcPool> pool,
                       int64_t offset, int64_t bytes) const {
  if (!pool && arena != MTC_ARENA_WORKSPACE)
    return lasting.at(arena, offset, bytes);
  Space space{SpaceKind::Workspace, 0};
  if (pool)
    space = spaceOf(*pool);
  return {space, offset, saturatingAdd(offset, bytes)};
}

void ByteForm::visit(Operation &op) {
  auto view = dyn_cast<rt::ViewOp>(op);
  if (!view)
    return; // events: checkStreams makes program order the order
  Placement placement = at(view.getArena(), view.getPool(), view.getOffset(),
                           rt::bytesOf(view.getType()));
  placements[view] = placement;
  // checkValues sees to it that a transfer begins where it is read.
  auto name = arrivingIn(placement.space);
  if (name && contents.isEmpty(placement))
    contents.write(placement, numbers.leaf(received(*name, chunk)), nullptr);
}

} // namespace mtc::passes::verify
