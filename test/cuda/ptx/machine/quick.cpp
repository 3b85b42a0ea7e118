//===- quick.cpp - the usual accesses, without words ----------------------===//
#include "test/cuda/ptx/machine/quick.h"

namespace mtc::ptx {

Quick::Quick(Warp &warp, const Instruction &by, unsigned bytes, bool writes) {
  Block &block = *warp.block;
  TouchShadow *touched = nullptr;
  size_t size = 0;
  // A base that no address is near: everything goes to access().
  base_ = ~Address(0);
  unsigned stream = 0;
  if (by.space == Space::shared) {
    size = block.shared.size();
    if (size < bytes)
      return;
    base_ = kSharedBase;
    host_ = block.shared.data();
    states_ = block.sharedStates.data();
    touched = &block.sharedTouched;
    tag_ = warp.sharedTag.bits;
  } else {
    Allocation *recent =
        block.recent[size_t(&by - block.code.instructions.data())];
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
  last_ = size - bytes;
  rows_ = size >= size_t(kLanes) * bytes;
  rowLast_ = rows_ ? size - size_t(kLanes) * bytes : 0;
  operation_ = tag_ >> 44;
  crowd_ = Tag{tag_}.of(Crowd::lanes).bits;
  warps_ = Tag{tag_}.of(Crowd::warps).at(warp.clock.barriers).bits & ~kThread;
  if (!block.memory.rules().races)
    return;
  writers_ = touched->writers.data();
  readers_[lists_++] = touched->readersOf(stream).data();
  for (unsigned k = 0; writes && k < touched->readers.size(); ++k)
    if (k != stream && !touched->readers[k].empty())
      readers_[lists_++] = touched->readers[k].data();
}

} // namespace mtc::ptx
