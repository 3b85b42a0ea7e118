//===- nearest_test.cpp - suggestions -------------------------------------===//

#include "models/nearest.h"

#include <gtest/gtest.h>

#include "models/shard_rules.h"

using namespace mtc::models;
using Values = std::vector<int64_t>;

TEST(Nearest, Names) {
  EXPECT_EQ(nearestName("hiden", {"heads", "hidden"}), "hidden");
  EXPECT_EQ(nearestName("pt", {"dp", "tp"}), "tp"); // a swap is one edit
  EXPECT_EQ(nearestName("banana", {"heads", "hidden"}), "");
  EXPECT_EQ(nearestName("xy", {"tp"}), ""); // all letters replaced
  EXPECT_EQ(nearestName(std::string(100000, 'x'), {"tp"}), "");
}

TEST(Nearest, Divisors) {
  EXPECT_EQ(nearestDivisors(12, 5), (Values{4, 6}));
  EXPECT_EQ(nearestDivisors(12, 6), (Values{6}));
  EXPECT_EQ(nearestDivisors(12, 99), (Values{12}));
  EXPECT_EQ(nearestDivisors(7, 3), (Values{1, 7}));
  EXPECT_EQ(nearestDivisors(36, 5), (Values{4, 6}));
}

TEST(Nearest, Multiples) {
  EXPECT_EQ(nearestMultiples(4, 10), (Values{8, 12}));
  EXPECT_EQ(nearestMultiples(4, 8), (Values{8}));
  EXPECT_EQ(nearestMultiples(4, 3), (Values{4}));
}

TEST(Nearest, Patterns) {
  EXPECT_TRUE(matches("layers.*.mlp.*", "layers.3.mlp.up.weight"));
  EXPECT_TRUE(matches("*", "embed.tokens"));
  EXPECT_TRUE(matches("*.weight", "head.weight"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("layers.1.*", "layers.11.mlp.up.weight"));
  EXPECT_FALSE(matches("embed", "embed.tokens"));
  EXPECT_FALSE(matches("", "embed"));
}
