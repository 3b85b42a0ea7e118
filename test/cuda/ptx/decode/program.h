//===- program.h - a module that can be run ---------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_DECODE_PROGRAM_H
#define MTC_TEST_CUDA_PTX_DECODE_PROGRAM_H

#include "test/cuda/ptx/decode/instruction.h"
#include "test/cuda/ptx/module.h"
#include "test/cuda/ptx/syntax/specials.h"
#include "test/cuda/ptx/syntax/tree.h"

#include <string>
#include <vector>

namespace mtc::ptx {

/// Shared addresses start here; the first KiB is the system's, as on sm_90, so
/// that a null pointer is none.
constexpr uint32_t kSharedBase = 1024;
/// The windows of shared and local memory within generic addresses.
constexpr Address kSharedWindow = Address(1) << 56;
constexpr Address kLocalWindow = Address(1) << 57;

/// A place in the register file that every lane finds filled.
struct Constant {
  uint32_t place;
  uint8_t slot; ///< bytes; 0: a predicate
  uint64_t bits;
  /// The address of a global or constant variable is added at launch; -1: none.
  int32_t variable = -1;
};

struct FilledSpecial {
  uint32_t place;
  uint8_t slot;
  Special what;
};

/// A register of which the text does not show that it is written before it is
/// read: lanes that have written it are noted in a mask.
struct TrackedRegister {
  uint32_t mask; ///< place of the mask
  std::string name;
  bool half = false; ///< of 16 bits
};

/// What a tracked instruction reads and writes: of Code::tracked.
struct Tracking {
  std::vector<uint32_t> reads, writes;
  std::vector<uint32_t> sums; ///< among `writes`: maybe read, too
  uint32_t guard = kNowhere;  ///< of Code::tracked, too
};

/// The operands of a wgmma.mma_async: D = A * B + D or A * B, of 64 rows and
/// `columns` columns; places in the register file.
struct WarpgroupProduct {
  unsigned columns = 0;
  std::vector<uint32_t> sums; ///< D
  std::vector<uint32_t> left; ///< A in registers; empty: in shared memory
  uint32_t leftTile = kNowhere, rightTile = kNowhere; ///< matrix descriptors
  bool leftTransposed = false, rightTransposed = false;
  bool negative = false; ///< of A * B
  /// Of Code::watched.
  std::vector<uint32_t> watchedSums, watchedLeft;
};

/// Registers of one instruction, by their numbers in the function.
struct RegisterUse {
  std::vector<uint32_t> reads, writes;
  /// Read and written, or written only, as the instruction finds when it runs.
  std::vector<uint32_t> sums = {};
  std::vector<uint32_t> left = {}; ///< A of a product, also among `reads`
  int64_t guard = -1;              ///< not among `reads`
};

/// Where a register is in the register file.
struct RegisterPlace {
  uint32_t place;
  uint8_t slot; ///< bytes; 0: a predicate
};

/// One kernel.
struct Code {
  std::vector<Instruction> instructions; ///< the last one ends the thread
  std::vector<std::vector<uint32_t>> tables;
  std::vector<Constant> constants;
  std::vector<FilledSpecial> specials;
  std::vector<TrackedRegister> tracked;
  std::vector<Tracking> tracking;
  std::vector<WarpgroupProduct> products;
  std::vector<std::string> watched; ///< registers of D and A of any product
  /// Of other instructions: which of these they read or write.
  std::vector<std::vector<uint32_t>> watches;
  std::vector<RegisterPlace> registers; ///< of the function
  std::vector<RegisterUse> uses;        ///< of the instructions
  uint32_t fileBytes = 0;               ///< of the register file of a warp
};

struct Program {
  std::string text;
  std::vector<std::string> lines; ///< without margins; line 1 first
  std::vector<KernelFacts> kernels;
  std::vector<Code> codes; ///< of the kernels
  std::vector<Variable> variables;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_DECODE_PROGRAM_H
