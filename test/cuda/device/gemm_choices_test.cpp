//===- gemm_choices_test.cpp - one algorithm of a product on all ranks ----===//

#include "runtime/device/cuda/gemm_choices.h"

#include "runtime/comm/threads/threads_world.h"

#include <gtest/gtest.h>

#include <thread>

namespace mtc::cuda {
namespace {

using runtime::Status;
using runtime::StatusCode;

/// A product of m rows.
AlignedGemm productOf(int64_t m, uint32_t alignment = 16) {
  AlignedGemm out;
  out.product.m = m;
  out.alignment = alignment;
  return out;
}

GemmChoice choiceOf(uint64_t algorithm) {
  return {MatmulAlgo{{algorithm, 0, 0, 0, 0, 0, 0, 1}}, 0};
}

struct Rank {
  int32_t library = 130100;
  GemmChoices choices;
  Status status;
};

/// Has ranks, threads of a world, share what they chose.
void share(std::vector<Rank> &ranks) {
  const auto count = static_cast<int>(ranks.size());
  runtime::ThreadsWorld world(Mesh(1, count, 1));
  std::vector<std::unique_ptr<runtime::Communicator>> comms;
  for (int rank = 0; rank < count; ++rank)
    comms.push_back(world.join(rank, {}));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      Rank &own = ranks[static_cast<size_t>(rank)];
      own.status = shareGemmChoices(*comms[static_cast<size_t>(rank)], count,
                                    rank, own.library, own.choices);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(GemmChoices, AreThoseOfTheLowestRankThatHasTheProduct) {
  std::vector<Rank> ranks(3);
  // More than one call tells, of ranks with different numbers of them; what
  // rank 1 tells last rank 2 tells first.
  constexpr int64_t kMany = 100;
  ranks[0].choices[productOf(1)] = choiceOf(7);
  for (int64_t m = 2; m < kMany; ++m)
    ranks[1].choices[productOf(m)] = choiceOf(1000 + static_cast<uint64_t>(m));
  ranks[1].choices[productOf(1)] = choiceOf(8);
  ranks[2].choices[productOf(kMany - 1)] = choiceOf(9);
  ranks[2].choices[productOf(1)] = choiceOf(10);
  ranks[2].choices[productOf(1, 8)] = choiceOf(11);
  ranks[2].choices[productOf(kMany)] = choiceOf(12);
  ranks[2].library = kNoProducts; // whoever says so
  share(ranks);
  for (const Rank &rank : ranks) {
    ASSERT_TRUE(rank.status.ok()) << rank.status.message();
    ASSERT_EQ(rank.choices.size(), size_t(kMany) + 1);
    for (const auto &[of, choice] : rank.choices) {
      const int64_t m = of.product.m;
      const bool isAligned = of.alignment == 16;
      const int chooser = m == kMany || !isAligned ? 2 : m == 1 ? 0 : 1;
      const uint64_t algorithm = !isAligned   ? 11
                                 : m == kMany ? 12
                                 : m == 1     ? 7
                                              : 1000 + static_cast<uint64_t>(m);
      EXPECT_EQ(choice.rank, chooser) << m;
      ASSERT_TRUE(choice.algorithm) << m;
      EXPECT_EQ(choice.algorithm->data[0], algorithm) << m;
      EXPECT_EQ(choice.algorithm->data[7], 1u);
    }
  }
}

TEST(GemmChoices, OfNoneIsAChoice) {
  std::vector<Rank> ranks(2);
  ranks[0].choices[productOf(1)] = {};
  ranks[1].choices[productOf(1)] = choiceOf(8);
  share(ranks);
  for (const Rank &rank : ranks)
    EXPECT_FALSE(rank.choices.at(productOf(1)).algorithm);
}

TEST(GemmChoices, AreOfOneLibrary) {
  std::vector<Rank> ranks(3);
  ranks[0].library = kNoProducts;
  ranks[2].library = 130001;
  share(ranks);
  for (const Rank &rank : ranks) {
    EXPECT_EQ(rank.status.code(), StatusCode::communication);
    EXPECT_NE(rank.status.message().find("expected one version of cuBLASLt, "
                                         "found 13.1.0 on rank 1 and 13.0.1 on "
                                         "rank 2"),
              std::string::npos)
        << rank.status.message();
  }
  ranks[2].library = kOwnProducts;
  share(ranks);
  EXPECT_NE(ranks[0].status.message().find("mtc's own products on rank 2"),
            std::string::npos)
      << ranks[0].status.message();
}

} // namespace
} // namespace mtc::cuda
