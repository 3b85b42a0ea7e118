//===- layers.cpp - which virtual stage has which layers ------------------===//
#include "passes/pipeline/layers.h"

#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"
#include "mtc/runtime/memory.h"

#include <numeric>

using namespace mlir;

namespace mtc::pipeline {

static constexpr int64_t kMost = Mesh::kMostVirtualStages;
static_assert(kMost == Tag::kStages);

/// Stages and chunks of the strategy.
static FailureOr<schedules::Shape> shapeOf(ModuleOp module, ConfigAttr config) {
  int64_t stages = config.getMesh().stages();
  int64_t chunks = config.getSchedule().getChunks();
  if (stages > kMost || chunks > kMost || stages * chunks > kMost)
    return module.emitError("expected pp times chunks to be 1 to ")
           << kMost << ", found " << stages << " times " << chunks;
  schedules::Shape shape;
  shape.stages = static_cast<int>(stages);
  shape.chunks = static_cast<int>(chunks);
  return shape;
}

/// How many layers each virtual stage has.
static FailureOr<ArrayRef<int64_t>> countsOf(ModuleOp module, ConfigAttr config,
                                             int64_t virtualStages) {
  int64_t layers = config.getModel().getLayers();
  ArrayRef<int64_t> counts = config.getSchedule().getLayersPerStage();
  bool good = llvm::all_of(counts, [layers](int64_t count) {
    return count >= 0 && count <= layers;
  });
  int64_t sum =
      good ? std::accumulate(counts.begin(), counts.end(), int64_t(0)) : -1;
  if (static_cast<int64_t>(counts.size()) != virtualStages || sum != layers)
    return module.emitError("expected layers_per_stage with ")
           << virtualStages << " entries of 0 or more that add to " << layers
           << ", found " << counts;
  return counts;
}

FailureOr<LayerMap> LayerMap::make(ModuleOp module) {
  FailureOr<ConfigAttr> config = configOf(module);
  if (failed(config))
    return failure();
  FailureOr<schedules::Shape> shape = shapeOf(module, *config);
  if (failed(shape))
    return failure();
  FailureOr<ArrayRef<int64_t>> counts =
      countsOf(module, *config, shape->virtualStages());
  if (failed(counts))
    return failure();
  LayerMap map;
  map.shape_ = *shape;
  map.virtualStages_.push_back(0);
  for (auto [u, count] : llvm::enumerate(*counts))
    map.virtualStages_.insert(map.virtualStages_.end(), count, u);
  map.virtualStages_.push_back(shape->virtualStages() - 1);
  return map;
}

int64_t LayerMap::of(Operation *op) const {
  int64_t layer = tfm::layerOf(op);
  return layer < 0 || layer >= static_cast<int64_t>(virtualStages_.size())
             ? -1
             : virtualStages_[layer];
}

} // namespace mtc::pipeline
