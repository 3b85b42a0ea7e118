//===- frame.h - places in the register file of a kernel --------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_FRAME_H
#define MTC_TEST_CUDA_PTX_DECODE_FRAME_H

#include "test/cuda/ptx/decode/program.h"

#include <map>
#include <tuple>

namespace mtc::ptx {

/// Of a slot of a register of that type; 0: a predicate, a bit of a mask.
inline uint8_t slotOf(Type type) {
  return type == Type::pred ? 0 : bytesOf(type) == 8 ? 8 : 4;
}

class Frame {
public:
  explicit Frame(const Function &function);

  uint32_t placeOf(uint32_t reg) const { return places_[reg]; }
  uint32_t constant(uint8_t slot, uint64_t bits, int32_t variable = -1);
  uint32_t special(Special what, uint8_t slot);
  /// A mask of lanes.
  uint32_t mask();
  /// Moves what this has collected to `code`.
  void finish(Code &code);

private:
  uint32_t room(uint8_t slot);
  std::vector<uint32_t> places_; ///< by register
  uint32_t bytes_ = 0;
  uint32_t masks_ = 0, masksLeft_ = 0;
  std::map<std::tuple<uint8_t, uint64_t, int32_t>, uint32_t> constantAt_;
  std::map<std::pair<Special, uint8_t>, uint32_t> specialAt_;
  std::vector<Constant> constants_;
  std::vector<FilledSpecial> specials_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_FRAME_H
