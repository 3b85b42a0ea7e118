//===- gpt2.h - GPT-2 as a sharding graph, by hand --------------*- C++ -*-===//
#ifndef MTC_TEST_SHARDING_GPT2_H
#define MTC_TEST_SHARDING_GPT2_H

#include "tape.h"

namespace mtc::sharding::test {

struct Gpt2 {
  int64_t batch, seq, hidden, heads, ffn, vocab, layers;
  bool dropout, fusedQkv, tied;
};

/// A graph with its strong splits per logical mesh axis.
struct Program {
  Graph graph;
  std::map<int, State> modelSeeds; ///< what `tp` splits
  std::map<int, State> dataSeeds;  ///< what `dp` splits

  /// Axes dp and tp; an axis of size 1 splits nothing.
  std::vector<Axis> axes(int64_t dp, int64_t tp) const;
};
Program buildGpt2(const Gpt2 &model);

} // namespace mtc::sharding::test
#endif // MTC_TEST_SHARDING_GPT2_H
