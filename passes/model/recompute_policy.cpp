//===- recompute_policy.cpp - what the backward computes again ------------===//
#include "passes/model/recompute_policy.h"

#include "passes/families/family.h"
#include "passes/pipeline/layers.h"

#include <map>

using namespace mlir;

namespace mtc::model {

/// The first `count` transformer layers of each stage, in the order of the
/// model: over its chunks, where it has several.
static FailureOr<llvm::DenseSet<int64_t>>
firstLayers(func::FuncOp microbatch, int64_t layers, int64_t count) {
  auto map = pipeline::LayerMap::make(microbatch->getParentOfType<ModuleOp>());
  if (failed(map))
    return failure();
  std::map<int, int64_t> taken; ///< by stage
  llvm::DenseSet<int64_t> first, seen;
  for (Operation &op : microbatch.front().without_terminator()) {
    int64_t layer = tfm::layerOf(&op);
    if (layer < 1 || layer > layers || !seen.insert(layer).second)
      continue;
    int64_t virtualStage = map->of(&op);
    int stage = map->shape().stageOf(static_cast<int>(virtualStage));
    if (taken[stage]++ < count)
      first.insert(layer);
  }
  return first;
}

FailureOr<Recomputation> Recomputation::make(func::FuncOp microbatch,
                                             RecomputeAttr recompute) {
  Recomputation policy;
  policy.recompute = recompute;
  FailureOr<ConfigAttr> config =
      configOf(microbatch->getParentOfType<ModuleOp>());
  if (failed(config))
    return failure();
  policy.layers = config->getModel().getLayers();
  bool isFull = recompute.getPolicy() == RecomputePolicy::Full ||
                recompute.getPolicy() == RecomputePolicy::Microbatches;
  if (!isFull && recompute.getPolicy() != RecomputePolicy::Layers)
    return policy;
  auto first =
      firstLayers(microbatch, policy.layers,
                  isFull ? policy.layers : recompute.getLayers().value());
  if (failed(first))
    return failure();
  policy.whole = std::move(*first);
  return policy;
}

bool Recomputation::computesAgain(Operation *op) const {
  int64_t layer = tfm::layerOf(op);
  if (layer < 1 || layer > layers)
    return false;
  auto family = dyn_cast<families::FamilyOpInterface>(op);
  if (!family || family.getFamily() == OpFamily::Structure)
    return false;
  switch (recompute.getPolicy()) {
  case RecomputePolicy::Full:
  case RecomputePolicy::Layers:
  case RecomputePolicy::Microbatches:
    return whole.contains(layer);
  case RecomputePolicy::Selective:
    return family.getFamily() == OpFamily::Attention;
  case RecomputePolicy::Ops:
    return recompute.names(family.getFamily());
  }
  return false;
}

} // namespace mtc::model
