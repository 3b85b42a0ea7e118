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
  uint64_t seed = 1234;
  std::string data;               ///< path of a flat file of tokens
  std::string data_dtype = "u16"; ///< u8, u16 or i32, little-endian
  std::string order = "shuffled"; ///< or sequential: sample k is window k
  /// Lengths of samples and for how many steps, "512:1000, 1024"; empty: the
  /// longest that the bundle has.
  std::string seq;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RECIPE_H
