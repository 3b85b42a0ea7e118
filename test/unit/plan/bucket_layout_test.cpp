//===- bucket_layout_test.cpp - Megatron's layout of gradient buffers -----===//
//
// The expected numbers are those that Megatron's own layout code gives for the
// same parameters (megatron/core/optimizer/param_layout.py).
//
//===----------------------------------------------------------------------===//
#include "passes/plan/BucketLayout.h"

#include <gtest/gtest.h>

using namespace mtc::passes;

namespace {

const PlacedParam &find(const BucketLayout &layout, const std::string &name) {
  for (const PlacedParam &p : layout.params)
    if (p.name == name)
      return p;
  throw std::runtime_error("no such parameter");
}

void expectPlaced(const BucketLayout &layout, const std::string &name,
                  int64_t start, int64_t end, int64_t bucket) {
  const PlacedParam &p = find(layout, name);
  EXPECT_EQ(p.start, start) << name;
  EXPECT_EQ(p.end, end) << name;
  EXPECT_EQ(p.bucket, bucket) << name;
}

TEST(BucketLayout, FourParametersOverFourReplicas) {
  BucketLayout layout = layOutBuckets(
      {{"a", 100}, {"b", 1000}, {"c", 30}, {"d", 500}}, {4, 512, true});
  expectPlaced(layout, "d", 0, 500, 0);
  expectPlaced(layout, "c", 512, 542, 0);
  expectPlaced(layout, "b", 640, 1640, 1);
  expectPlaced(layout, "a", 1664, 1764, 2);
  ASSERT_EQ(layout.buckets.size(), 3u);
  const int64_t expected[3][3] = {
      {0, 640, 542}, {640, 1664, 1000}, {1664, 1792, 100}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(layout.buckets[i].start, expected[i][0]);
    EXPECT_EQ(layout.buckets[i].end, expected[i][1]);
    EXPECT_EQ(layout.buckets[i].unpadded, expected[i][2]);
  }
}

TEST(BucketLayout, SharedEmbeddingHasItsOwnBucket) {
  BucketLayout layout = layOutBuckets(
      {{"wte", 700, true}, {"x", 64}, {"y", 10}}, {3, int64_t{1} << 40, true});
  expectPlaced(layout, "y", 0, 10, 0);
  expectPlaced(layout, "x", 64, 128, 0);
  expectPlaced(layout, "wte", 384, 1084, 1);
  ASSERT_EQ(layout.buckets.size(), 2u);
  EXPECT_EQ(layout.buckets[0].end, 384);
  EXPECT_EQ(layout.buckets[0].unpadded, 128);
  EXPECT_EQ(layout.buckets[1].end, 1152);
  EXPECT_EQ(layout.buckets[1].unpadded, 700);
}

// A collective over tp sums all of a bucket, and nothing else.
TEST(BucketLayout, PartialGradientsHaveBucketsOfTheirOwn) {
  const std::vector<MtcGroup> tp = {MTC_GROUP_TP};
  BucketLayout layout = layOutBuckets({{"a", 5},
                                       {"b", 7, false, tp},
                                       {"c", 11},
                                       {"d", 13, false, tp},
                                       {"table", 17, true, tp}},
                                      {1, 100, false});
  std::vector<std::pair<std::string, int64_t>> placed;
  for (const PlacedParam &param : layout.params)
    placed.push_back({param.name, param.bucket});
  EXPECT_EQ(placed, (std::vector<std::pair<std::string, int64_t>>{
                        {"c", 0}, {"a", 0}, {"table", 1}, {"d", 2}, {"b", 2}}));
  ASSERT_EQ(layout.buckets.size(), 3u);
  EXPECT_EQ(layout.buckets[0].end, 16);
  EXPECT_EQ(layout.buckets[2].end, 16 + 17 + 20);
}

// Under ZeRO-2 a bucket is summed behind the fragment that makes all of it.
TEST(BucketLayout, FragmentsHaveBucketsOfTheirOwn) {
  const std::vector<MtcGroup> tp = {MTC_GROUP_TP};
  BucketLayout layout = layOutBuckets({{"a", 128, false, {}, 1},
                                       {"b", 64, false, tp, 1},
                                       {"c", 128, false, {}, 3},
                                       {"d", 64, false, {}, 3},
                                       {"e", 64, false, tp, 3}},
                                      {2, int64_t{1} << 40, true});
  std::vector<std::pair<std::string, int64_t>> placed;
  for (const PlacedParam &param : layout.params)
    placed.push_back({param.name, param.bucket});
  EXPECT_EQ(placed, (std::vector<std::pair<std::string, int64_t>>{
                        {"d", 0}, {"c", 0}, {"a", 1}, {"e", 2}, {"b", 3}}));
  ASSERT_EQ(layout.buckets.size(), 4u);
  EXPECT_EQ(layout.buckets[0].end, 256);
  EXPECT_EQ(layout.buckets[3].end, 640);
}

// One all-gather moves a bucket, in one type.
TEST(BucketLayout, TypesHaveBucketsOfTheirOwn) {
  const std::vector<MtcGroup> tp = {MTC_GROUP_TP};
  BucketLayout layout = layOutBuckets({{"table", 100, true, {}, 0, MTC_BF16},
                                       {"norm", 64, false, tp, 0, MTC_F32},
                                       {"weight", 256, false, {}, 0, MTC_BF16},
                                       {"scale", 128, false, {}, 0, MTC_F32},
                                       {"bias", 64, false, {}, 0, MTC_BF16}},
                                      {2, int64_t{1} << 40, true});
  std::vector<std::pair<std::string, int64_t>> placed;
  for (const PlacedParam &param : layout.params)
    placed.push_back({param.name, param.bucket});
  EXPECT_EQ(placed,
            (std::vector<std::pair<std::string, int64_t>>{{"scale", 0},
                                                          {"norm", 1},
                                                          {"bias", 2},
                                                          {"weight", 2},
                                                          {"table", 3}}));
  std::vector<MtcDtype> types;
  for (const PlacedBucket &bucket : layout.buckets)
    types.push_back(bucket.dtype);
  EXPECT_EQ(types,
            (std::vector<MtcDtype>{MTC_F32, MTC_F32, MTC_BF16, MTC_BF16}));
}

// The example of Megatron's document of the distributed optimizer: four
// parameters of together 16 elements over four replicas, each of which has a
// quarter. The ranges of each rank are those of
// Shards.FourParametersInSixteenElementsOverFourReplicas.
TEST(BucketLayout, DenseParametersLieSideBySide) {
  BucketLayout layout = layOutBuckets({{"d", 3}, {"c", 2}, {"b", 6}, {"a", 5}},
                                      {4, int64_t{1} << 40, true, true});
  expectPlaced(layout, "a", 0, 5, 0);
  expectPlaced(layout, "b", 5, 11, 0);
  expectPlaced(layout, "c", 11, 13, 0);
  expectPlaced(layout, "d", 13, 16, 0);
  ASSERT_EQ(layout.buckets.size(), 1u);
  EXPECT_EQ(layout.buckets[0].end, 16);
  EXPECT_EQ(layout.buckets[0].unpadded, 16);
}

TEST(BucketLayout, DenseBucketsEndAtAMultipleOfTheReplicas) {
  BucketLayout layout =
      layOutBuckets({{"wte", 701, true}, {"x", 64}, {"y", 10}},
                    {3, int64_t{1} << 40, true, true});
  expectPlaced(layout, "y", 0, 10, 0);
  expectPlaced(layout, "x", 10, 74, 0);
  expectPlaced(layout, "wte", 75, 776, 1);
  ASSERT_EQ(layout.buckets.size(), 2u);
  EXPECT_EQ(layout.buckets[0].end, 75);
  EXPECT_EQ(layout.buckets[0].unpadded, 74);
  EXPECT_EQ(layout.buckets[1].end, 777);
}

TEST(BucketLayout, WithoutZeroNothingIsPadded) {
  BucketLayout layout = layOutBuckets({{"a", 5}, {"b", 7}}, {2, 100, false});
  expectPlaced(layout, "b", 0, 7, 0);
  expectPlaced(layout, "a", 7, 12, 0);
  ASSERT_EQ(layout.buckets.size(), 1u);
  EXPECT_EQ(layout.buckets[0].end, 12);
}

} // namespace
