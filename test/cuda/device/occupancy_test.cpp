//===- occupancy_test.cpp - occupancy as NVIDIA's header computes it ------===//

#include "mtc/runtime/gpu_cards.h"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <random>

namespace {

cudaOccDeviceProp propertiesOf(const mtc::GpuCard &card) {
  cudaOccDeviceProp p{};
  int chip = std::stoi(std::string(card.chip.substr(3)));
  p.computeMajor = chip / 10;
  p.computeMinor = chip % 10;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = card.threads;
  p.regsPerBlock = p.regsPerMultiprocessor = card.registers;
  p.warpSize = 32;
  p.sharedMemPerMultiprocessor = static_cast<size_t>(card.sharedBytes);
  p.sharedMemPerBlock = 48 << 10;
  p.sharedMemPerBlockOptin = static_cast<size_t>(card.sharedBytes) - 1024;
  p.reservedSharedMemPerBlock = 1024;
  p.numSms = card.multiprocessors;
  return p;
}

TEST(Occupancy, IsThatOfNvidiasHeader) {
  std::mt19937 random(7);
  int compared = 0;
  for (const mtc::GpuCard &card : mtc::kGpuCards) {
    cudaOccDeviceProp properties = propertiesOf(card);
    for (int i = 0; i < 20000; ++i) {
      int threads = 1 + static_cast<int>(random() % 1024);
      int registers = 1 + static_cast<int>(random() % 255);
      size_t shared = random() % 3 ? random() % (100 << 10) : 0;
      cudaOccFuncAttributes kernel{};
      kernel.maxThreadsPerBlock = 1024;
      kernel.numRegs = registers;
      kernel.maxDynamicSharedSizeBytes = card.sharedBytes - 1024;
      kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
      kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
      cudaOccDeviceState state{};
      state.cacheConfig = CACHE_PREFER_SHARED;
      state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
      cudaOccResult result{};
      ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(
                    &result, &properties, &kernel, &state, threads, shared),
                CUDA_OCC_SUCCESS);
      ASSERT_EQ(mtc::residentBlocks(card, threads, registers,
                                    static_cast<int64_t>(shared)),
                result.activeBlocksPerMultiprocessor)
          << card.name << ": " << threads << " threads, " << registers
          << " registers, " << shared << " bytes";
      compared += result.activeBlocksPerMultiprocessor > 1;
    }
  }
  EXPECT_GT(compared, 10000);
}

} // namespace
