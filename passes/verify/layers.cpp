//===- layers.cpp - which stage has which layers --------------------------===//
#include "dialects/tfm/Tfm.h"
#include "passes/verify/checks.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class LayerChecker {
public:
  LayerChecker(const Model &model, Report &report)
      : model(model), report(report) {}

  void check() {
    StagesOfLayers stagesOf = stagesOfLayers();
    checkOnce(stagesOf);
    ArrayRef<int64_t> counts = model.config.getSchedule().getLayersPerStage();
    int64_t wanted = model.mesh.stages() * model.chunks;
    if (static_cast<int64_t>(counts.size()) != wanted) {
      report.error(model.module)
          << "expected layers_per_stage of mtc.config to have " << wanted
          << " entries, found " << counts.size();
      return;
    }
    for (int64_t layers : counts)
      ends.push_back(saturatingAdd(ends.empty() ? 0 : ends.back(), layers));
    checkOrder(stagesOf, counts);
  }

private:
  using StagesOfLayers = std::map<int64_t, std::set<int64_t>>;

  /// By the parameters whose values lie there, which know their layer.
  StagesOfLayers stagesOfLayers() const {
    StagesOfLayers stagesOf;
    for (const Stage &stage : model.stages)
      for (const Param &param : stage.params) {
        rt::BucketOp bucket = stage.bucket(param.bucket());
        int64_t layer = layerOf(param.of);
        if (bucket && !bucket.isSecondUse() && layer >= 0)
          stagesOf[layer].insert(stage.index);
      }
    return stagesOf;
  }

  /// Every layer of the model is on one stage, and there are no others.
  void checkOnce(const StagesOfLayers &stagesOf) {
    for (auto &[layer, stages] : stagesOf) {
      if (stages.size() > 1)
        report.error(model.stages[*stages.rbegin()].op)
            << "expected each layer on one stage, found layer " << layer
            << " on stages " << *stages.begin() << " and " << *stages.rbegin();
      if (layer >= model.layers)
        report.error(model.stages[*stages.begin()].op)
            << "expected layers 0 to " << model.layers - 1 << ", found layer "
            << layer;
    }
    for (int64_t layer = 0; layer < model.layers; ++layer)
      if (!stagesOf.count(layer))
        report.error(model.module)
            << "expected layer " << layer << " on a stage, found it on none";
  }

  /// From 0 on, as its record says; -1 of what is in none. Ops and parameters
  /// count from 1 on.
  static int64_t layerOf(pipe::ParameterOp param) {
    int64_t layer = tfm::layerOf(param);
    return layer < 1 ? -1 : layer - 1;
  }

  /// The virtual stage of a layer, by the configuration.
  int64_t virtualStageOf(int64_t layer) const {
    return std::upper_bound(ends.begin(), ends.end(), layer) - ends.begin();
  }

  /// Layers run in their order: those of a virtual stage are behind those of
  /// the ones before it, as many as the configuration says.
  void checkOrder(const StagesOfLayers &stagesOf,
                  ArrayRef<int64_t> layersPerStage) {
    int64_t stages = model.mesh.stages();
    for (auto &[layer, found] : stagesOf) {
      int64_t u = virtualStageOf(layer), expected = u % stages;
      if (u < int64_t(ends.size()) && !found.count(expected))
        report.error(model.stages[*found.begin()].op)
            << "expected layer " << layer << " on stage " << expected
            << " (layers_per_stage of mtc.config), found it on stage "
            << *found.begin();
    }
    for (const Stage &stage : model.stages) {
      int64_t found = llvm::count_if(stagesOf, [&](const auto &layer) {
        return layer.second.count(stage.index);
      });
      int64_t expected = 0;
      for (int64_t chunk = 0; chunk < model.chunks; ++chunk)
        expected = saturatingAdd(expected,
                                 layersPerStage[chunk * stages + stage.index]);
      if (found != expected)
        report.error(stage.op) << "expected " << expected << " layers on stage "
                               << stage.index << ", found " << found;
      for (auto form : stage.op.getOps<rt::TensorFormOp>())
        form.walk([&](pipe::ParamOp param) { checkChunk(param); });
    }
  }

  /// A chunk computes with the layers of its virtual stage.
  void checkChunk(pipe::ParamOp param) {
    auto of = pipe::FragmentAttr::of(param->getParentOp());
    auto known = model.parameters.find(param.getName().str());
    if (!of || known == model.parameters.end()) // checkSameValues says so
      return;
    int64_t layer = layerOf(known->second);
    if (layer < 0)
      return;
    int64_t found = of.virtualStage(model.mesh.stages());
    if (int64_t expected = virtualStageOf(layer); found != expected)
      report.error(param) << "expected a parameter of layer " << layer
                          << " on virtual stage " << expected
                          << " (layers_per_stage of mtc.config), found it read "
                             "on virtual stage "
                          << found;
  }

  const Model &model;
  Report &report;
  std::vector<int64_t> ends; ///< of the layers of each virtual stage
};

} // namespace

void checkLayers(const Model &model, Report &report) {
  LayerChecker(model, report).check();
}

} // namespace mtc::passes::verify
