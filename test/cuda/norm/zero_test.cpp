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
      device.run("mtc_cuda_zero", {someBlocks(), 1, 1}, cuda::kNormThreads, at,
                 bytes);
      EXPECT_TRUE(device.isWritten(at, size_t(bytes)));
      EXPECT_TRUE(device.isWritten(at + uint64_t(bytes), kBehind, false));
      EXPECT_TRUE(device.isWritten(at - skipped, skipped, false));
      for (uint8_t byte : device.read<uint8_t>(at, size_t(bytes)))
        ASSERT_EQ(byte, 0);
    }
}

} // namespace
