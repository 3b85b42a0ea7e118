//===- gpu_cards.h - what GPUs can do, by their data sheets -----*- C++ -*-===//
//
// Plain C++: the compiler's report divides by these figures, and `mtc explain`
// takes limits of multiprocessors from here.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_GPU_CARDS_H
#define MTC_RUNTIME_GPU_CARDS_H

#include "mtc/runtime/gpu_chips.h"

#include <cstdint>
#include <string_view>

namespace mtc {

struct GpuCard {
  std::string_view name;        ///< in reports and for --calls
  std::string_view description; ///< for people
  std::string_view chip;        ///< what programs are compiled for at best
  /// Operations a second: of products of 16-bit factors with f32 sums on dense
  /// tensor cores, and in f32 without them, where a fused product and sum
  /// counts as two.
  double products16, f32;
  double memory; ///< bytes a second
  double link;   ///< bytes a second by NVLink in one direction
  int multiprocessors;
  /// Of one multiprocessor.
  int registers, sharedBytes, threads, blocks;
};

// Operations, memory and links: NVIDIA's data sheets "A100 80GB", "H100" and
// "H200" (SXM; half of their figures with sparsity, where only these are
// given), and for B200 those of HGX B200 with eight of them at 1,000 W:
// 4.5 PFLOP/s of 16 bits with sparsity each, and 8 TB/s where its sheets say
// "up to" (62 TB/s of eight). Its f32 is 75 or 80 TFLOP/s by the sheet; the
// larger one is taken, as floors must not be too high. Multiprocessors: the
// white papers of the architectures; B200's: its device query. Limits of a
// multiprocessor: CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability" 8.0, 9.0 and 10.0.
inline constexpr GpuCard kGpuCards[] = {
    {"A100", "A100 SXM 80 GB", "sm_80", 312e12, 19.5e12, 2.039e12, 300e9, 108,
     65536, 164 * 1024, 2048, 32},
    {"H100", "H100 SXM", "sm_90", 989.4e12, 66.9e12, 3.35e12, 450e9, 132, 65536,
     228 * 1024, 2048, 32},
    {"H200", "H200 SXM", "sm_90", 989.4e12, 66.9e12, 4.8e12, 450e9, 132, 65536,
     228 * 1024, 2048, 32},
    {"B200", "B200 SXM", "sm_100", 2250e12, 80e12, 8e12, 900e9, 148, 65536,
     228 * 1024, 2048, 32},
};

/// The card of a name; null if there is none.
constexpr const GpuCard *gpuCardNamed(std::string_view name) {
  for (const GpuCard &card : kGpuCards)
    if (card.name == name)
      return &card;
  return nullptr;
}

/// The first card of the newest of some chips that has one, oldest first:
/// "sm_90" and "sm_90a" have the H100; else it, as of "sm_86".
inline const GpuCard &gpuCardFor(const std::vector<std::string> &chips) {
  for (auto chip = chips.rbegin(); chip != chips.rend(); ++chip)
    for (const GpuCard &card : kGpuCards)
      if (*chip == card.chip || *chip == std::string(card.chip) + "a")
        return card;
  return *gpuCardNamed("H100");
}

/// Registers are given to a warp 256 at a time, in each of four parts of a
/// multiprocessor; shared memory to a block 128 bytes at a time, and 1 KiB
/// beside what it asks for. Source: cuda_occupancy.h of CUDA 13.0 for compute
/// capability 8.0 and up, and the guide's section on shared memory.
inline constexpr int kWarpThreads = 32, kRegisterUnit = 256,
                     kProcessorParts = 4, kSharedUnit = 128,
                     kSharedReserved = 1024;

/// Blocks that a multiprocessor holds at once. `registers` of a thread; 0: not
/// known, and no limit.
constexpr int residentBlocks(const GpuCard &card, int threads, int registers,
                             int64_t sharedBytes) {
  auto roundUp = [](int64_t n, int64_t unit) {
    return (n + unit - 1) / unit * unit;
  };
  if (threads <= 0)
    return 0;
  int64_t warps = roundUp(threads, kWarpThreads) / kWarpThreads;
  int64_t most = card.blocks;
  auto limit = [&](int64_t blocks) { most = blocks < most ? blocks : most; };
  limit(card.threads / (warps * kWarpThreads));
  limit(card.sharedBytes / roundUp(sharedBytes + kSharedReserved, kSharedUnit));
  if (registers > 0) {
    int64_t ofWarp = roundUp(int64_t{registers} * kWarpThreads, kRegisterUnit);
    int64_t ofPart = card.registers / kProcessorParts / ofWarp;
    limit(ofPart * kProcessorParts / warps);
  }
  return static_cast<int>(most);
}

/// The part of a multiprocessor's threads that such blocks have, 0 to 1.
constexpr double occupancy(const GpuCard &card, int threads, int registers,
                           int64_t sharedBytes) {
  int warps = (threads + kWarpThreads - 1) / kWarpThreads;
  return static_cast<double>(
             residentBlocks(card, threads, registers, sharedBytes) * warps *
             kWarpThreads) /
         card.threads;
}

} // namespace mtc
#endif // MTC_RUNTIME_GPU_CARDS_H
