//===- quick.cpp - the usual accesses, without words ----------------------===//
#include "test/cuda/ptx/machine/quick.h"

namespace mtc::ptx {
namespace {

/// That the instruction touched before, or that it touches now; null: that is a
/// matter of access().
Allocation *recentOf(Block &block, const Instruction &by, Space space,
                     uint64_t sample, unsigned bytes) {
  Allocation *&recent =
      block.recent[size_t(&by - block.code.instructions.data())];
  if (recent)
    return recent;
  Allocation *found = block.memory.find(sample, bytes);
  if (found && block.memory.reaches(*found) &&
      (space != Space::constant || found->readOnly))
    recent = found;
  return recent;
}

} // namespace

Quick::Quick(Warp &warp, const Instruction &by, Space space, uint64_t sample,
             unsigned bytes, bool writes)
    : block_(*warp.block), clock_(&warp.clock),
      lanesConflict_(warp.block->options.racesInsideWarps) {
  Block &block = block_;
  TouchShadow *touched = nullptr;
  size_t size = 0;
  // A base that no address is near: everything goes to access().
  base_ = ~Address(0);
  unsigned stream = 0;
  if (space == Space::shared) {
    size = block.shared.size();
    if (size < bytes)
      return;
    base_ = kSharedBase;
    host_ = block.shared.data();
    states_ = block.sharedStates.data();
    touched = &block.sharedTouched;
    tag_ = warp.sharedTag.bits;
  } else if (space != Space::local) {
    Allocation *recent = recentOf(block, by, space, sample, bytes);
    if (!recent || recent->bytes < bytes || (writes && recent->readOnly))
      return;
    size = recent->bytes;
    base_ = recent->base;
    host_ = recent->host;
    states_ = recent->states.empty() ? nullptr : recent->states.data();
    touched = &recent->touched;
    tag_ = warp.globalTag.bits;
    stream = block.memory.operation().stream;
    allOrdered_ = !block.memory.hasOrder();
    ordered_ = block.ordered;
  }
  if (!touched)
    return;
  last_ = size - bytes;
  rows_ = size >= size_t(kLanes) * bytes;
  rowLast_ = rows_ ? size - size_t(kLanes) * bytes : 0;
  operation_ = tag_ >> 44;
  crowd_ = Tag{tag_}.of(Crowd::lanes).bits;
  if (!block.memory.rules().races)
    return;
  touched->open();
  writers_ = touched->writers.data();
  readers_[lists_++] = touched->readersOf(stream).data();
  for (unsigned k = 0; writes && k < touched->readers.size(); ++k)
    if (k != stream && !touched->readers[k].empty())
      readers_[lists_++] = touched->readers[k].data();
}

} // namespace mtc::ptx
