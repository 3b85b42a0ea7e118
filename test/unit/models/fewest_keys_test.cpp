//===- fewest_keys_test.cpp - sets of changes against all small ones ------===//
//
// The rules are those of models; what is independent is which values are tried:
// here all small ones of six keys, in every set of up to three of them.
//
//===----------------------------------------------------------------------===//

#include <random>

#include "models/ranks.h"
#include "models/repair.h"
#include "support.h"

using namespace mtc::models;

namespace mtc::models::test {
namespace {

using Sizes = std::map<std::string, int64_t>;

struct Problem {
  Sizes sizes;
  int64_t ranks = 0; ///< 0: as the mesh has
};

const std::vector<std::string> kSearched = {
    "tp", "cp", "dp", "pp", "micro_batch_size", "global_batch_size"};

class FewestKeysTest : public testing::Test {
protected:
  std::vector<Violation> broken(const Strategy &strategy, int64_t ranks) const {
    std::vector<Violation> found = validate(spec, strategy);
    if (ranks)
      for (Violation &each : checkRanks(strategy, ranks))
        found.push_back(std::move(each));
    return found;
  }

  Strategy with(const Sizes &sizes) const {
    Strategy strategy;
    for (const auto &[key, value] : sizes)
      EXPECT_TRUE(keys.apply({key, value}, strategy)) << key << value;
    strategy.given.emplace("dp");
    return strategy;
  }

  /// The fewest keys, up to three, that small values of them repair; 0: none.
  int fewest(const Problem &problem) const {
    for (int count = 1; count <= 3; ++count)
      if (repairs(problem, problem.sizes, 0, count))
        return count;
    return 0;
  }

  bool repairs(const Problem &problem, Sizes sizes, size_t first,
               int count) const {
    if (count == 0)
      return broken(with(sizes), problem.ranks).empty();
    for (size_t key = first; key < kSearched.size(); ++key)
      for (int64_t value = 1; value <= 10; ++value) {
        Sizes changed = sizes;
        changed[kSearched[key]] = value;
        if (repairs(problem, changed, key + 1, count - 1))
          return true;
      }
    return false;
  }

  RepairSearch search(const Problem &problem) {
    budget = {};
    Rules rules = {[this, ranks = problem.ranks](const Strategy &strategy) {
                     return broken(strategy, ranks);
                   },
                   [](const Strategy &, bool) { return 1; }};
    return {spec, keys, {rules}, {"device_memory"}, budget};
  }

  void expectFewest(const Problem &problem) {
    Strategy strategy = with(problem.sizes);
    int wanted = fewest(problem);
    std::vector<Changes> sets = search(problem).repairs(strategy, 3);
    std::string what = testing::PrintToString(problem.sizes) + " on " +
                       std::to_string(problem.ranks);
    if (wanted > 0) {
      ASSERT_FALSE(sets.empty()) << what;
    }
    for (const Changes &set : sets) {
      // Keys and values that are not searched here may do with fewer.
      if (wanted > 0) {
        EXPECT_LE(static_cast<int>(set.size()), wanted) << what;
      }
      Strategy changed = strategy;
      for (const Change &change : set)
        ASSERT_TRUE(keys.apply(change, changed)) << what;
      EXPECT_TRUE(broken(changed, problem.ranks).empty())
          << what << ": " << toOptions(set);
    }
  }

  std::vector<std::string> optionsOf(const Problem &problem, size_t most) {
    std::vector<std::string> texts;
    for (const Changes &set :
         search(problem).repairs(with(problem.sizes), most))
      texts.push_back(toOptions(set));
    return texts;
  }

  ModelSpec spec = loadSpec("gpt2-nano"); // 4 layers, 4 heads
  StrategyKeys keys{kSchedules};
  SearchBudget budget;
};

Problem problem(int64_t gbs, int64_t tp, int64_t dp, int64_t pp,
                int64_t ranks) {
  return {{{"global_batch_size", gbs}, {"tp", tp}, {"dp", dp}, {"pp", pp}},
          ranks};
}

TEST_F(FewestKeysTest, NoKeyMoreThanAllSmallValuesNeed) {
  expectFewest(problem(8, 3, 1, 8, 8));
  expectFewest(problem(10, 3, 5, 8, 40));
  expectFewest(problem(8, 3, 5, 8, 40));
  std::mt19937 random(5);
  auto upTo = [&](int64_t most) {
    return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (int i = 0; i < 14; ++i) {
    Problem each = problem(upTo(12), upTo(8), upTo(6), upTo(8), 0);
    each.sizes["cp"] = upTo(3);
    each.sizes["micro_batch_size"] = upTo(4);
    if (random() % 2)
      each.ranks = int64_t{1} << (random() % 6);
    if (!broken(with(each.sizes), each.ranks).empty())
      expectFewest(each);
  }
}

TEST_F(FewestKeysTest, AProductIsRightWithTheLastChange) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(optionsOf(problem(8, 3, 1, 8, 8), 9),
            (Texts{"--pp 4 --tp 2", "--pp 2 --tp 4"}));
  EXPECT_EQ(optionsOf(problem(8, 3, 5, 8, 40), 1),
            (Texts{"--global-batch-size 10 --pp 4 --tp 2"}));
}

} // namespace
} // namespace mtc::models::test
