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

/// Schedules are functions of n, the steps or samples that are done when a step
/// ends (lr_at "end") or begins ("start"), with W of warm-up, D of warm-up and
/// decay, T in all. They are those of Megatron-LM's OptimizerParamScheduler,
/// whose count is that at the start.
///
/// The learning rate while n <= W: init_lr + (lr - init_lr)·n/W. Then constant:
/// lr. For n > D: min_lr. Else, with x = (n - W)/(D - W), cosine: min_lr + (lr
/// - min_lr)·(1 + cos(pi·x))/2; linear: lr + (min_lr - lr)·x;
/// inverse-square-root: max(min_lr, lr·sqrt(max(W, 1))/sqrt(max(n, 1))); wsd:
/// lr, and over the last A of D, with y = (n - (D - A))/A, min_lr + (lr -
/// min_lr)·c, where c is 1 - y (linear), (1 + cos(pi·y))/2 (cosine), 2·2^-y - 1
/// (exponential) or 1 - sqrt(y) (minus_sqrt).
///
/// The weight decay, with z = min(1, n/T): constant: weight_decay; else
/// start_weight_decay + (weight_decay - start_weight_decay)·c, where c is z
/// (linear) or (1 + cos(pi·(1 - z)))/2 (cosine).
struct Recipe {
  int64_t steps = 100;
  int64_t samples = 0; ///< in place of steps, where it is above 0
  double lr = 3e-4;
  double min_lr = 3e-5;
  double init_lr = 0;
  int64_t warmup_steps = 0, warmup_samples = 0;
  double warmup_fraction = 0;                 ///< of D, in place of these
  int64_t decay_steps = 0, decay_samples = 0; ///< 0: all
  std::string decay = "cosine";
  int64_t wsd_decay_steps = 0, wsd_decay_samples = 0;
  std::string wsd_decay = "exponential";
  std::string lr_at = "end"; ///< or "start"
  double beta1 = 0.9, beta2 = 0.95;
  double eps = 1e-8;
  double momentum = 0.9;
  double weight_decay = 0.1;
  double start_weight_decay = 0;
  std::string weight_decay_ramp = "constant";
  /// Of groups of parameters, which the strategy makes: "embeddings: lr_scale
  /// 0.1, weight_decay 0; head: lr 1e-4".
  std::string groups;
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

  /// Whether the schedules count samples, not steps.
  bool countsSamples() const {
    return samples > 0 || warmup_samples > 0 || decay_samples > 0 ||
           wsd_decay_samples > 0;
  }
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RECIPE_H
