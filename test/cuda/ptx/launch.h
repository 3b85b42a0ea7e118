//===- launch.h - executes a kernel -----------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_LAUNCH_H
#define MTC_TEST_CUDA_PTX_LAUNCH_H

#include "test/cuda/ptx/fault.h"
#include "test/cuda/ptx/memory.h"
#include "test/cuda/ptx/module.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace mtc::ptx {

class Observer; // machine/observer.h

struct LaunchOptions {
  /// Of the order of blocks, of the spans that warps run for, and of what
  /// registers hold before they are written. Same seed, same run.
  uint64_t seed = 0;
  /// Of the launch, counted in warps; beyond it the kernel is endless.
  uint64_t instructionLimit = 400'000'000;
  /// Shared memory that nothing has written reads as 0xff bytes (a NaN in any
  /// float type) in place of a fault.
  bool readUnwrittenShared = false;
  /// Registers that a lane has not written read as garbage in place of a fault.
  bool readUnwrittenRegisters = false;
  /// The same of registers of 16 bits only: LLVM packs two of which one is
  /// never used.
  bool readUnwrittenHalves = false;
  /// Threads that have ended count at barriers, as today's devices do it.
  bool endedThreadsArrive = false;
  /// Lanes of a warp conflict where neither bar.warp.sync nor a barrier lies
  /// between them; devices run lanes one by one if they like.
  bool racesInsideWarps = true;
  /// Told of every instruction that is executed; null: nobody is.
  Observer *observer = nullptr;
};

/// What a launch did.
struct LaunchCounts {
  uint64_t warpInstructions = 0;
  uint64_t laneInstructions = 0; ///< of lanes that took part
  uint64_t barriers = 0;         ///< completed
};

struct Launch {
  const Module &module;
  const KernelFacts &kernel; ///< of that module
  Extent grid, block;
  uint32_t dynamicShared = 0; ///< bytes
  /// parameterBytes of them, laid out as the kernel's parameters.
  std::span<const std::byte> parameters;
  /// Needed if the module has global or constant variables.
  const Globals *globals = nullptr;
};

/// Runs all blocks, one after the other, as a part of memory's present
/// operation. Null: it ended well. After a fault memory is as it was then.
/// `counts`, if given, is added to.
[[nodiscard]] std::optional<Fault> launch(const Launch &what, Memory &memory,
                                          const LaunchOptions &options = {},
                                          LaunchCounts *counts = nullptr);

/// Bytes of a launch, put together from values in the order of the parameters.
class Arguments {
public:
  template <class T> Arguments &add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_LAUNCH_H
