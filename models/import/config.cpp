//===- config.cpp - the strategy as module attributes ---------------------===//
#include "models/import/import.h"

#include "dialects/dist/Dist.h"
#include "models/spec.h"
#include "models/strategy.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::models {

static StringRef ref(std::string_view text) {
  return {text.data(), text.size()};
}

/// {heads = "tp", ...}: only axes that are split.
static DictionaryAttr rulesOf(Builder &b, const Strategy &strategy) {
  SmallVector<NamedAttribute> rules;
  for (LogicalAxis axis : allLogicalAxes())
    if (MeshAxis mesh = strategy.shard.meshAxis(axis); mesh != MeshAxis::none)
      rules.push_back(b.getNamedAttr(ref(toString(axis)),
                                     b.getStringAttr(ref(toString(mesh)))));
  return b.getDictionaryAttr(rules);
}

DictionaryAttr ownRules(Builder &b, const Strategy &strategy,
                        std::string_view parameter, ArrayAttr axes) {
  SmallVector<NamedAttribute> rules;
  for (LogicalAxis axis : allLogicalAxes()) {
    MeshAxis mesh = strategy.meshAxis(parameter, axis);
    auto name = b.getStringAttr(ref(toString(axis)));
    if (mesh != strategy.shard.meshAxis(axis) && llvm::is_contained(axes, name))
      rules.push_back(b.getNamedAttr(
          name, b.getStringAttr(mesh == MeshAxis::none ? StringRef()
                                                       : ref(toString(mesh)))));
  }
  return b.getDictionaryAttr(rules);
}

/// The axes that tensors are split over, outermost first.
static dist::MeshAttr meshOf(Builder &b, const Strategy &strategy) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  for (const AxisInfo &axis : llvm::reverse(kAxes))
    if (axis.splits) {
      axes.push_back(b.getStringAttr(ref(axis.name)));
      sizes.push_back(strategy.mesh[axis.id]);
    }
  return dist::MeshAttr::get(b.getContext(), ArrayRef(axes), ArrayRef(sizes));
}

void setConfig(ModuleOp module, const ModelSpec &spec,
               const Strategy &strategy) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> config;
  auto number = [&](StringRef name, int64_t value) {
    config.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
  };
  auto text = [&](StringRef name, StringRef value) {
    config.push_back(b.getNamedAttr(name, b.getStringAttr(value)));
  };
  text("model", spec.name);
  number("layers", spec.layers);
  number("hidden", spec.hidden);
  number("vocab", spec.vocab);
  number("padded_vocab", spec.paddedVocab);
  for (const AxisInfo &axis : kAxes)
    number(ref(axis.name), strategy.mesh[axis.id]);
  number("micro_batch", strategy.microBatchSize);
  number("microbatches", strategy.microbatches());
  number("global_batch", strategy.globalBatchSize);
  number("seq", strategy.seqLength ? strategy.seqLength : spec.maxSeq);
  number("zero", strategy.zero);
  number("threads", strategy.threadsPerRank);
  number("bucket_size", strategy.bucketSize);
  number("device_memory", strategy.deviceMemory);
  text("schedule", strategy.schedule);
  text("dtype", strategy.dtype);
  text("target", strategy.target);
  config.push_back(b.getNamedAttr(
      "layers_per_stage", b.getDenseI64ArrayAttr(strategy.layersPerStage)));
  module->setAttr("mtc.config", b.getDictionaryAttr(config));
  module->setAttr(dist::meshAttrName, meshOf(b, strategy));
  module->setAttr(dist::rulesAttrName, rulesOf(b, strategy));
}

} // namespace mtc::models
