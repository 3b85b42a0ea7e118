//===- stages.h - how many layers each stage has ----------------*- C++ -*-===//
#ifndef MTC_MODELS_STAGES_H
#define MTC_MODELS_STAGES_H

#include <cstdint>
#include <vector>

#include "models/strategy.h"

namespace mtc::models {

/// Layers by virtual stage: what the strategy lists, else the same number each,
/// but for the first and the last where it gives their numbers. What does not
/// divide goes to the first stages, which a validated strategy has only where
/// its stages are balanced.
std::vector<int64_t> layersOfStages(int64_t layers, const Strategy &strategy);

/// The most even `layers_per_stage`: what is left over goes to the first
/// stages.
std::vector<int64_t> evenStages(int64_t layers, int64_t stages);

/// What one step computes, in operations of one microbatch; any unit.
struct ModelCost {
  int64_t before = 0; ///< the layers: the embedding, on the first stage
  std::vector<int64_t> layers; ///< each
  int64_t behind = 0;          ///< the head and the loss, on the last stage
};

/// How many layers a virtual stage may have.
struct StageLimits {
  int64_t least = 0, most = 0;
};

/// Layers by virtual stage so that the most expensive one costs as little as
/// can be; of such lists the one with the least sum of squares of costs, and of
/// these the one whose last stages have least layers. Exact, by dynamic
/// programming over prefixes of layers: at most stages · layers² steps. Empty
/// where the limits leave no list.
std::vector<int64_t> balancedStages(const ModelCost &cost,
                                    const std::vector<StageLimits> &stages);

/// The limits of a strategy: numbers that it gives, none without a layer but
/// the first and the last.
std::vector<StageLimits> stageLimits(int64_t layers, const Strategy &strategy);

} // namespace mtc::models
#endif // MTC_MODELS_STAGES_H
