// Philox4x32-10 against the published vectors, and its addressing.
#include "runtime/base/name_hash.h"
#include "runtime/base/philox.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;

// The three philox4x32-10 lines of Random123's kat_vectors.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0, 0),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, f, f),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       0xa4093822, 0x299f31d0),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Every field of the address lands in its bits of the counter and key.
TEST(Philox, Addressing) {
  PhiloxAddress at{0x299f31d0a4093822ull, 0x0370734413198a2eull, 0xa308, 0xd3};
  // Block 0x85'243f6a88: its high 8 bits share c1 with layer and site.
  uint64_t block = 0x85243f6a88ull;
  PhiloxBlock pi = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(philoxBlock(at, block), pi);
  for (uint64_t lane = 0; lane < 4; ++lane)
    EXPECT_EQ(philoxWord(at, block * 4 + lane), pi[lane]);
}

TEST(Dropout, ThresholdAndScale) {
  DropoutRule rule = dropoutRule(0.1);
  EXPECT_EQ(rule.threshold, 429496729u); // floor(0.1 · 2^32)
  EXPECT_EQ(rule.scale, float(1.0 / 0.9));
  EXPECT_FALSE(rule.keeps(429496728u));
  EXPECT_TRUE(rule.keeps(429496729u));
  EXPECT_TRUE(dropoutRule(0).keeps(0));
  EXPECT_EQ(dropoutRule(0).scale, 1.0f);
}

// The kept share of a million elements: 5 standard deviations of a binomial.
TEST(Dropout, Rate) {
  DropoutRule rule = dropoutRule(0.25);
  PhiloxAddress at{7, 3, 2, 1};
  int64_t kept = 0, count = 1'000'000;
  for (int64_t block = 0; block < count / 4; ++block)
    for (uint32_t word : philoxBlock(at, uint64_t(block)))
      kept += rule.keeps(word);
  EXPECT_NEAR(double(kept), 750'000, 5 * 433);
}

// xxh3-64 of the empty string is published with the algorithm.
TEST(NameHash, KnownAnswer) {
  EXPECT_EQ(nameHash(""), 0x2d06800538d394c2ull);
  EXPECT_NE(nameHash("layers.1.norm1.scale"), nameHash("layers.2.norm1.scale"));
}
