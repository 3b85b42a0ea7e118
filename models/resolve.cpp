//===- resolve.cpp - a strategy with every default filled in --------------===//

#include "models/resolve.h"

namespace mtc::models {

Strategy resolve(const ModelSpec &spec, Strategy strategy) {
  if (strategy.seqLength == 0)
    strategy.seqLength = spec.maxSeq;
  if (strategy.layersPerStage.empty())
    strategy.layersPerStage.assign(
        static_cast<size_t>(strategy.virtualStages()),
        spec.layers / strategy.virtualStages());
  return strategy;
}

} // namespace mtc::models
