//===- frame.cpp - places in the register file of a kernel ----------------===//
#include "test/cuda/ptx/decode/frame.h"

namespace mtc::ptx {
namespace {

constexpr uint32_t kLine = 64;

} // namespace

Frame::Frame(const Function &function) {
  for (const Register &each : function.registers)
    places_.push_back(room(slotOf(each.type)));
}

uint32_t Frame::room(uint8_t slot) {
  if (slot == 0)
    return mask();
  uint32_t place = bytes_;
  bytes_ += 32 * slot;
  return place;
}

/// Masks share cache lines, so that other registers start with one.
uint32_t Frame::mask() {
  if (masksLeft_ == 0) {
    masks_ = bytes_;
    masksLeft_ = kLine / 4;
    bytes_ += kLine;
  }
  --masksLeft_;
  uint32_t place = masks_;
  masks_ += 4;
  return place;
}

uint32_t Frame::constant(uint8_t slot, uint64_t bits, int32_t variable) {
  auto [it, isNew] = constantAt_.emplace(std::tuple(slot, bits, variable), 0);
  if (isNew) {
    it->second = room(slot);
    constants_.push_back({it->second, slot, bits, variable});
  }
  return it->second;
}

uint32_t Frame::special(Special what, uint8_t slot) {
  auto [it, isNew] = specialAt_.emplace(std::pair(what, slot), 0);
  if (isNew) {
    it->second = room(slot);
    specials_.push_back({it->second, slot, what});
  }
  return it->second;
}

void Frame::finish(Code &code) {
  code.constants = std::move(constants_);
  code.specials = std::move(specials_);
  code.fileBytes = bytes_;
}

} // namespace mtc::ptx
