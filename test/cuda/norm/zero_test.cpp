// mtc_cuda_zero.
#include "norm_values.h"

#include "runtime/cuda/norm/norm_params.h"
#include "test/cuda/common/executor_device.h"

using namespace mtc;
using namespace mtc::test;

namespace {

TEST(Zero, WritesItsRangeAndNothingElse) {
  for (int64_t bytes : {0, 1, 2, 15, 16, 17, 31, 33, 255, 4096, 9999, 70001})
    for (size_t skipped : {0, 1, 7, 15}) {
      ExecutorDevice device(*normModule, someSeed());
      constexpr size_t kBehind = 64;
      ptx::Address at =
          device.space(size_t(bytes) + kBehind, "memory", skipped);
      const int32_t one = 1;
      ptx::Address applies =
          skipped == 7 ? device.place(std::span(&one, 1), "applies") : 0;
      device.run("mtc_cuda_zero", {someBlocks(), 1, 1}, cuda::kNormThreads, at,
                 bytes, applies);
      EXPECT_TRUE(device.isWritten(at, size_t(bytes)));
      EXPECT_TRUE(device.isWritten(at + uint64_t(bytes), kBehind, false));
      EXPECT_TRUE(device.isWritten(at - skipped, skipped, false));
      for (uint8_t byte : device.read<uint8_t>(at, size_t(bytes)))
        ASSERT_EQ(byte, 0);
    }
}

TEST(Zero, WritesNothingWhereItsGuardIsZero) {
  ExecutorDevice device(*normModule, someSeed());
  ptx::Address at = device.space(9999, "memory", 7);
  const int32_t none = 0;
  device.run("mtc_cuda_zero", {someBlocks(), 1, 1}, cuda::kNormThreads, at,
             int64_t(9999), device.place(std::span(&none, 1), "applies"));
  EXPECT_TRUE(device.isWritten(at, 9999, false));
}

} // namespace
