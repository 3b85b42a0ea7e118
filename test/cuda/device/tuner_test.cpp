//===- tuner_test.cpp - which algorithm mtc tune takes --------------------===//
//
// Under the stand-ins times mean nothing: here they are given.
//
//===----------------------------------------------------------------------===//
#include "runtime/device/cuda/gemm_tuner.h"

#include <gtest/gtest.h>

namespace mtc::cuda {
namespace {

/// Algorithm i has i + 1 in its first word; which one is taken of these times.
uint64_t taken(const std::vector<std::vector<double>> &times) {
  std::vector<MatmulAlgo> algorithms(times.size());
  for (size_t i = 0; i < algorithms.size(); ++i)
    algorithms[i].data[0] = i + 1;
  return fastest(algorithms, times).algorithm.data[0];
}

TEST(Tuner, TakesTheLeastMedian) {
  EXPECT_EQ(taken({{10, 10, 10}, {9, 9, 9}, {7, 7, 7}, {8, 8, 8}}), 3u);
  // A round that was disturbed, or one that was lucky, is no reason.
  EXPECT_EQ(taken({{10, 10, 10}, {7, 7, 99}, {1, 9, 9}}), 2u);
}

TEST(Tuner, KeepsTheFirstGuessUnlessAnotherIsClearlyFaster) {
  EXPECT_EQ(taken({{10}}), 1u);
  EXPECT_EQ(taken({{10}, {9.9}, {9.85}}), 1u);
  EXPECT_EQ(taken({{10}, {9.9}, {9.7}}), 3u);
}

TEST(Tuner, KeepsBothTimes) {
  TunedGemm chosen = fastest({{}, {}}, {{10, 12, 11}, {5, 6, 7}});
  EXPECT_EQ(chosen.firstMicroseconds, 11);
  EXPECT_EQ(chosen.microseconds, 6);
}

} // namespace
} // namespace mtc::cuda
