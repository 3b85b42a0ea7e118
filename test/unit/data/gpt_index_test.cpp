//===- gpt_index_test.cpp - indices are Megatron-LM's ---------------------===//

#include "runtime/data/gpt_index.h"
#include "runtime/data/numpy_random.h"
#include "test/unit/data/gpt_case.h"
#include "test/unit/runtime/temporary_folder.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;
using namespace mtc::runtime::test;

namespace {

/// Goldens by megatron-core 0.19.2: test/golden/data/generate.py.
TEST(GptIndex, EqualsMegatrons) {
  std::ifstream in(MTC_GOLDEN_DIR "/data/gpt_cases.txt");
  std::string line;
  int cases = 0;
  for (; std::getline(in, line); ++cases) {
    GptCase c;
    ASSERT_TRUE(parseCase(line, c)) << line;
    TemporaryFolder folder;
    ASSERT_TRUE(writeCorpora(c, folder.path()).ok());
    std::string digest;
    Status status = digestOfCase(c, folder.path(), digest);
    ASSERT_TRUE(status.ok()) << line << ": " << status.message();
    EXPECT_EQ(digest, c.digest) << line;
  }
  EXPECT_GE(cases, 40);
}

/// numpy.random.RandomState(7): randint(0, most + 1, dtype=uint64) draws the
/// same way as shuffle does; numpy 2.5.5.
TEST(NumpyRandom, DrawsBeyond32Bits) {
  NumpyRandom random(7);
  for (uint64_t expected :
       {752595690692, 108744157686, 291964244179, 309610205529})
    EXPECT_EQ(random.upTo((uint64_t{1} << 40) + 12345), expected);
}

} // namespace
