//===- resolve.cpp - a strategy with every default filled in --------------===//

#include "models/resolve.h"

#include "models/kv_heads.h"
#include "models/stages.h"

namespace mtc::models {

Strategy resolve(const ModelSpec &spec, Strategy strategy) {
  if (strategy.seqLength == 0)
    strategy.seqLength = spec.maxSeq;
  strategy.layersPerStage = layersOfStages(spec.layers, strategy);
  strategy.mesh.setKvRanks(kvRanks(spec, strategy));
  if (spec.attention.qkv == QkvKind::separate &&
      kvCopies(spec, strategy) > strategy.mesh.kvRanks())
    strategy.shard.set(LogicalAxis::kvHeads, MeshAxis::none);
  return strategy;
}

} // namespace mtc::models
