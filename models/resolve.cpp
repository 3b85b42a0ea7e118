//===- resolve.cpp - a strategy with every default filled in --------------===//

#include "models/resolve.h"

#include "models/kv_heads.h"
#include "models/stages.h"

#include <algorithm>

namespace mtc::models {

int64_t defaultBucketSize(const Mesh &mesh) {
  return std::max<int64_t>(40'000'000, 1'000'000 * mesh[MTC_AXIS_DP]);
}

Strategy resolve(const ModelSpec &spec, Strategy strategy) {
  if (strategy.seqLength == 0)
    strategy.seqLength = spec.maxSeq;
  if (strategy.bucketSize == 0)
    strategy.bucketSize = defaultBucketSize(strategy.mesh);
  strategy.layersPerStage = layersOfStages(spec.layers, strategy);
  strategy.mesh.setKvRanks(kvRanks(spec, strategy));
  if (spec.attention.qkv == QkvKind::separate &&
      kvCopies(spec, strategy) > strategy.mesh.kvRanks())
    strategy.shard.set(LogicalAxis::kvHeads, MeshAxis::none);
  return strategy;
}

} // namespace mtc::models
