//===- weights.h - parts of a corpus, and weights of several ----*- C++ -*-===//
//
// Arithmetic on weights in Megatron-LM's order of operations, so that its
// roundings are ours (megatron/core/datasets: utils.py, normalize;
// blended_megatron_dataset_config.py; blended_megatron_dataset_builder.py).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DATA_WEIGHTS_H
#define MTC_RUNTIME_DATA_WEIGHTS_H

#include "runtime/base/status.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// As numpy.sum adds: from the left for fewer than eight, else in eight
/// columns, halved above 128.
double weightSum(std::span<const double> weights);

/// Each weight by the sum of all.
std::vector<double> normalized(std::span<const double> weights);

/// Parts of a corpus.
enum class SplitPart { train, valid, test };
inline constexpr const char *kSplitPartNames[] = {"train", "valid", "test"};

/// Sequences [first, end) of a corpus.
struct SequenceRange {
  int64_t first = 0, end = 0;
  bool empty() const { return end <= first; }
};

/// What part of a corpus is trained on, evaluated and tested: "969,30,1".
class Split {
public:
  /// Up to three numbers of at least 0, not all 0; an empty text is "1".
  /// Errors: usage.
  static Status parse(std::string_view text, Split &out);
  /// The sequences of a part: the cumulative shares, rounded to the nearest,
  /// halves to even.
  SequenceRange of(SplitPart part, int64_t sequences) const;

private:
  std::array<double, 4> ends_{0, 1, 1, 1}; ///< cumulative shares
};

/// Of `samples` of a blend those that come from a corpus of share `weight`, and
/// as many as its index is built for: half a percent more.
int64_t blendTarget(int64_t samples, double weight);
int64_t blendSupply(int64_t samples, double weight);

/// Deals samples to corpora: the next one is of the corpus d with the largest
/// w[d]·max(i, 1) - count[d], the first of equals; i counts samples, count[d]
/// those of the corpus (helpers.cpp, build_blending_indices).
class BlendDealer {
public:
  explicit BlendDealer(std::vector<double> weights)
      : weights_(std::move(weights)), counts_(weights_.size()) {}
  struct Dealt {
    int64_t corpus, sample;
  };
  Dealt next();
  const std::vector<int64_t> &counts() const { return counts_; }

private:
  std::vector<double> weights_;
  std::vector<int64_t> counts_;
  int64_t dealt_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_WEIGHTS_H
