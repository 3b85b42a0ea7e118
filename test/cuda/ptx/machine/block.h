//===- block.h - warps that share memory and barriers -----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_BLOCK_H
#define MTC_TEST_CUDA_PTX_MACHINE_BLOCK_H

#include "test/cuda/ptx/decode/program.h"
#include "test/cuda/ptx/launch.h"
#include "test/cuda/ptx/machine/random.h"
#include "test/cuda/ptx/machine/warp.h"

#include <array>
#include <optional>
#include <vector>

namespace mtc::ptx {

/// One of a block's 16 barriers.
struct Barrier {
  uint32_t expected = 0; ///< threads; 0: nobody has come yet
  uint32_t arrived = 0;
  bool whole = false; ///< all threads of the block are expected
  std::vector<Warp *> waiting;
  WarpClock clock;                 ///< of those that have come, together
  const Instruction *by = nullptr; ///< that the first one came by
  // bar.red: what the predicates of threads come to.
  uint32_t count = 0;
  bool all = true, any = false;
};

/// What blocks keep in memory. A thread has one, which launches take one after
/// the other: it is as large as the largest needed, and pages stay mapped.
struct BlockMemory {
  std::vector<std::byte> files; ///< registers of all warps
  std::vector<std::byte> shared;
  std::vector<ByteState> sharedStates;
  TouchShadow sharedTouched;
  std::vector<std::byte> local; ///< of one thread after the other
  std::vector<ByteState> localStates;
  std::vector<uint32_t> tileReaders; ///< by 16 bytes: warps in whose wgmmas
  /// How many blocks came before this one, and one: tags of shared memory tell
  /// blocks by it.
  uint32_t sequence = 0;
};

/// What all threads of a block share. One of these runs all blocks of a launch,
/// one after the other.
struct Block {
  Block(const Launch &launch, const Code &code, Memory &memory,
        const LaunchOptions &options);
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  const Launch &launch;
  const Program &program;
  const Code &code;
  Memory &memory;
  const LaunchOptions &options;
  LaunchCounts counts;
  Random random;
  std::optional<Fault> fault;

  uint32_t threads; ///< of a block
  uint32_t number = 0;
  Extent place{0, 0, 0}; ///< within the grid

  std::vector<Warp> warps;
  BlockMemory kept; ///< lent by the thread
  std::vector<std::byte> &shared = kept.shared;
  std::vector<ByteState> &sharedStates = kept.sharedStates;
  TouchShadow &sharedTouched = kept.sharedTouched;
  std::vector<std::byte> &local = kept.local;
  std::vector<ByteState> &localStates = kept.localStates;
  std::vector<uint32_t> &tileReaders = kept.tileReaders;
  std::vector<Warpgroup> warpgroups;
  std::array<Barrier, 16> barriers;
  std::vector<Allocation *> recent; ///< that each instruction touched
  uint32_t ordered = 0;             ///< an operation that came before this one
  uint64_t clock = 0;               ///< grows each time it is read

  /// Of a thread of the block, by its number.
  Extent threadAt(uint32_t number) const;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_BLOCK_H
