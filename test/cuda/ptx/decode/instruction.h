//===- instruction.h - what a warp executes ---------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_INSTRUCTION_H
#define MTC_TEST_CUDA_PTX_DECODE_INSTRUCTION_H

#include "test/cuda/ptx/syntax/types.h"

#include <array>
#include <cstdint>

namespace mtc::ptx {

struct Warp;
struct Instruction;

/// Executes one for the lanes that take part. False: a fault ended the launch,
/// and the block has it.
using Handler = bool (*)(Warp &, const Instruction &);

/// What decides which instruction comes next.
enum class Flow : uint8_t {
  plain,
  branch,  ///< to `target`
  table,   ///< to one of the program's tables, by a register
  end,     ///< of a thread
  barrier, ///< the handler has arrived at it; the warp may have to wait
};

/// Which lanes must come together before an instruction is executed.
enum class Gather : uint8_t {
  none,
  members,   ///< those of the mask in `members`
  apart,     ///< the same, but they may be at several such instructions
  warp,      ///< all 32
  liveLanes, ///< all that have not ended: barriers of a block
};

/// The place of an operand that is not there.
constexpr uint32_t kNowhere = ~0u;

/// Operands are places in the register file of a warp: of 32 slots of 4 or 8
/// bytes, or, of a predicate, of 32 bits. Immediates and special registers have
/// places, too.
struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::plain;
  Gather gather = Gather::none;
  bool guarded = false, guardNegated = false;
  bool tracked = false; ///< reads or writes registers that are followed
  bool watched = false; ///< reads or writes registers that a wgmma has, too
  /// None of these, and of all lanes that are there: its handler is all of it.
  bool straight = false;
  Space space = Space::generic;
  uint8_t toCount = 0, fromCount = 0;
  uint8_t slot = 4;    ///< bytes of a slot, of a handler that asks for it
  uint8_t base = 0;    ///< bytes of a slot of the address; 0: absolute
  uint8_t vector = 1;  ///< elements
  uint8_t variant = 0; ///< which one of what its handler can do
  bool flag = false;   ///< another such choice
  uint16_t wideTo = 0, wideFrom = 0; ///< bits of operands: slots of 8 bytes
  uint32_t guard = 0, members = 0;
  std::array<uint32_t, 8> to{};
  std::array<uint32_t, 16> from{};
  int64_t immediate = 0; ///< added to the address, or a number of the handler's
  int64_t second = 0;    ///< the same of a second address
  uint32_t target = 0;   ///< an instruction, a table, or of Code::products
  int line = 0;
  uint32_t tracking = 0; ///< of Code::tracking, if tracked
  uint32_t watch = 0;    ///< of Code::watches, if watched
};

inline uint8_t slotOfTo(const Instruction &i, unsigned k) {
  return i.wideTo >> k & 1 ? 8 : 4;
}
inline uint8_t slotOfFrom(const Instruction &i, unsigned k) {
  return i.wideFrom >> k & 1 ? 8 : 4;
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_INSTRUCTION_H
