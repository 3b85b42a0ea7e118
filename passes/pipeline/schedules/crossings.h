//===- crossings.h - what virtual stages send each other --------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_CROSSINGS_H
#define MTC_PASSES_PIPELINE_SCHEDULES_CROSSINGS_H

#include "mtc/runtime/memory.h"
#include "passes/pipeline/schedules/finding.h"

#include <vector>

namespace mtc::schedules {

/// A value that virtual stage `from` sends to virtual stage `to` in each
/// microbatch.
struct Crossing {
  CrossingName name;
  int from = 0, to = 0;
  int64_t bytes = 0; ///< of the whole tensor
};

/// All that crosses in an entry: any values between any two virtual stages.
/// Where there is no table it is the chain, of any number of virtual stages: an
/// activation to the next one, a gradient back.
class Crossings {
public:
  /// The chain, with the bytes of an activation and of its gradient.
  static Crossings chain(int64_t activationBytes, int64_t gradientBytes);
  Crossings() = default;
  /// A table. What it may not say, findings() finds.
  static Crossings table(std::vector<Crossing> rows);

  bool isChain() const { return isChain_; }
  /// The values of one direction that virtual stage `u` of `count` receives or
  /// sends, by name.
  std::vector<Crossing> into(int u, bool gradient, int count) const;
  std::vector<Crossing> outOf(int u, bool gradient, int count) const;

  /// How many pools there are: fixed ones, and those of further values.
  int poolCount() const { return poolCount_; }

  /// All broken rules of a table for `count` virtual stages, of class
  /// `crossing`: rows between virtual stages that exist, activations to later
  /// ones, gradients to earlier ones, names that fit; no two values of one name
  /// that a virtual stage sends, or receives.
  Findings findings(int count) const;

private:
  bool isChain_ = true;
  int64_t activationBytes_ = 0, gradientBytes_ = 0; ///< of the chain
  int poolCount_ = MTC_POOL_FIXED;
  std::vector<Crossing> rows_;
  /// Of a table, by virtual stage; rows that have no place are left out.
  std::vector<std::vector<Crossing>> into_, outOf_;
};

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_CROSSINGS_H
