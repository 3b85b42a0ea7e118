//===- recompute.h - what the backward computes again -----------*- C++ -*-===//
#ifndef MTC_MODELS_RECOMPUTE_H
#define MTC_MODELS_RECOMPUTE_H

#include "models/nearest.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::models {

/// Which values of transformer layers the backward computes again instead of
/// reading what the forward saved.
struct Recompute {
  enum class Policy {
    none,      ///< all that its gradients read is saved
    selective, ///< what attention makes is computed again
    full,      ///< of each layer only the input is saved
    layers,    ///< full for the first layers of each stage
    ops,       ///< what ops of some families make is computed again
    fit,       ///< the least of the others that fits a device
    /// full for some of the microbatches that a stage has in flight
    microbatches
  };
  Policy policy = Policy::none;
  int64_t layers = 0;                  ///< of each stage; with `layers` only
  std::vector<std::string> families{}; ///< each once; with `ops` only
  int64_t microbatches = 0; ///< of those in flight; with `microbatches` only

  bool operator==(const Recompute &) const = default;
};

/// The families of ops that `ops=` may name.
const std::vector<std::string_view> &recomputeFamilies();

/// "one of none, selective, ...": what parseRecompute reads, for messages.
std::string describeRecompute();

/// Reads "none", "selective", "full", "layers=2", "microbatches=2",
/// "ops=attention,norm" or "fit" into `out`, which stays as it is where the
/// text is wrong.
ReadText parseRecompute(std::string_view text, Recompute &out);

/// The policies that neither name ops nor look for others, of stages with at
/// most `layers` layers: none, selective, layers=1 and so on, full.
std::vector<Recompute> recomputeLadder(int64_t layers);

/// As parseRecompute reads it.
std::string toString(const Recompute &recompute);

} // namespace mtc::models
#endif // MTC_MODELS_RECOMPUTE_H
