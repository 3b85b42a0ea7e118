//===- recipe.h - how to train ----------------------------------*- C++ -*-===//
//
// Everything that a run may change without compiling again. A recipe file is
// TOML with these names as top-level keys (docs/reference/recipe.md).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RECIPE_H
#define MTC_RUNTIME_RECIPE_H

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// The learning rate of step s (1-based): lr·s/warmup_steps while s <=
/// warmup_steps; then, with x = min(1, (s - warmup) / (decay_steps -
/// warmup)), cosine: min_lr + (lr - min_lr)·(1 + cos(pi·x))/2; linear: lr +
/// (min_lr - lr)·x; constant: lr.
struct Recipe {
  int64_t steps = 100;
  double lr = 3e-4;
  double min_lr = 3e-5;
  int64_t warmup_steps = 0;
  int64_t decay_steps = 0; ///< 0: `steps`
  std::string decay = "cosine";
  double beta1 = 0.9, beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  double clip = 1.0; ///< threshold of the global gradient norm; 0: no clipping
  // Only of programs that scale the loss (fp16).
  double loss_scale = 0; ///< constant; 0: dynamic, by what follows
  double initial_loss_scale = 0x1p32;
  double min_loss_scale = 1;
  int64_t loss_scale_window = 1000; ///< finite steps until the scale doubles
  int64_t hysteresis = 2;           ///< overflows until it halves
  uint64_t seed = 1234;
  /// A flat file of tokens; or one or more of Megatron-LM's corpora, with or
  /// without weights (runtime/data/data_path.h).
  std::string data;
  std::string data_dtype = "u16"; ///< of raw files; little-endian
  std::string order = "shuffled"; ///< or sequential: as they lie in the file
  std::string split;              ///< "969,30,1", of corpora; empty: all
  /// Of corpora: the samples for which their order is drawn; 0: those that the
  /// run reads.
  int64_t data_samples = 0;
  /// The token with which documents end; -1: they are the corpus's sequences.
  int64_t eod = -1;
  std::string data_cache_path; ///< of indices of corpora; empty: beside them
  /// An evaluation of `eval_steps` global batches behind every `eval_interval`
  /// steps and the last one; 0: none. It reads `eval_data`, in its order from
  /// its start, or else the second part of `split`.
  int64_t eval_interval = 0, eval_steps = 100;
  std::string eval_data;
  /// Lengths of samples and for how many steps, "512:1000, 1024"; empty: the
  /// longest that the bundle has.
  std::string seq;
  /// Samples of a step; 0: the most that the bundle has. Before these, the
  /// start of a ramp, what is added each time, and the samples that it takes:
  /// "16 16 100000"; empty: none.
  int64_t global_batch_size = 0;
  std::string rampup_batch_size;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RECIPE_H
