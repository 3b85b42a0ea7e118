//===- config.cpp - the strategy as module attributes ---------------------===//
#include "models/import/import.h"

#include "dialects/dist/Dist.h"
#include "dialects/mtc/Mtc.h"
#include "models/epilogues.h"
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

std::vector<LogicalAxis> logicalAxes(ArrayAttr names) {
  std::vector<LogicalAxis> axes;
  for (LogicalAxis axis : allLogicalAxes())
    if (llvm::is_contained(names.getAsValueRange<StringAttr>(),
                           ref(toString(axis))))
      axes.push_back(axis);
  return axes;
}

DictionaryAttr ownRules(Builder &b, const Strategy &strategy,
                        std::string_view parameter, ArrayAttr axes) {
  SmallVector<NamedAttribute> rules;
  for (auto [axis, mesh] : strategy.meshAxes(parameter, logicalAxes(axes)))
    if (mesh != strategy.shard.meshAxis(axis))
      rules.push_back(b.getNamedAttr(
          ref(toString(axis)),
          b.getStringAttr(mesh == MeshAxis::none ? StringRef()
                                                 : ref(toString(mesh)))));
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

static ScheduleAttr scheduleOf(Builder &b, const Strategy &strategy) {
  std::optional<int64_t> group;
  if (strategy.microbatchGroup > 0)
    group = strategy.microbatchGroup;
  SmallVector<StringRef> lines(strategy.scheduleSlots.begin(),
                               strategy.scheduleSlots.end());
  return ScheduleAttr::get(
      b.getContext(), strategy.schedule, strategy.chunks,
      b.getDenseI64ArrayAttr(strategy.layersPerStage), group,
      lines.empty() ? ArrayAttr() : b.getStrArrayAttr(lines));
}

/// None where nothing is computed again.
static RecomputeAttr recomputeOf(Builder &b, const Recompute &recompute) {
  using Policy = Recompute::Policy;
  MLIRContext *context = b.getContext();
  assert(recompute.policy != Policy::fit && "chosen before import");
  switch (recompute.policy) {
  case Policy::none:
  case Policy::fit:
    return {};
  case Policy::selective:
    return RecomputeAttr::get(context, RecomputePolicy::Selective, {}, {}, {});
  case Policy::full:
    return RecomputeAttr::get(context, RecomputePolicy::Full, {}, {}, {});
  case Policy::layers:
    return RecomputeAttr::get(context, RecomputePolicy::Layers,
                              recompute.layers, {}, {});
  case Policy::microbatches:
    return RecomputeAttr::get(context, RecomputePolicy::Microbatches, {}, {},
                              recompute.microbatches);
  case Policy::ops: {
    SmallVector<StringRef> names(recompute.families.begin(),
                                 recompute.families.end());
    return RecomputeAttr::get(context, RecomputePolicy::Ops, {},
                              b.getStrArrayAttr(names), {});
  }
  }
  return {};
}

/// Whether there is something that overlaps: one stage has no transfers, stages
/// of one rank have no sums of gradients, and one replica has all parameters.
static bool hasWork(Overlap kind, const Strategy &strategy) {
  int64_t stages = strategy.mesh.stages();
  switch (kind) {
  case Overlap::P2p: // those of GPUs take place in the order of the program
    return stages > 1 && strategy.target == "cpu";
  case Overlap::GradReduce:
    return strategy.mesh.worldSize() > stages;
  case Overlap::ParamGather:
    return strategy.zero > 0 && strategy.mesh[MTC_AXIS_DP] > 1;
  }
  return false;
}

static ArrayAttr overlapOf(Builder &b, const Strategy &strategy) {
  SmallVector<StringRef> kept;
  for (const std::string &name : strategy.overlap)
    if (auto kind = symbolizeOverlap(name); kind && hasWork(*kind, strategy))
      kept.push_back(name);
  return kept.empty() ? ArrayAttr() : b.getStrArrayAttr(kept);
}

/// Of a cpu; none for the default.
static std::optional<GemmChoice> gemmOf(const Strategy &strategy) {
  return strategy.target == "cpu" ? symbolizeGemmChoice(strategy.gemm)
                                  : std::nullopt;
}

/// Of products by kernels of our own; none for the default.
static std::optional<Prepack> prepackOf(const Strategy &strategy) {
  return gemmOf(strategy) ? symbolizePrepack(strategy.prepack) : std::nullopt;
}

/// Those of the target; of a cpu, only products by kernels of our own have any.
static ArrayAttr epiloguesOf(Builder &b, const Strategy &strategy) {
  SmallVector<StringRef> names;
  if (strategy.target != "cpu" || gemmOf(strategy))
    for (const std::string &kind : strategy.gemmEpilogues)
      if (isEpilogueOf(strategy.target, kind))
        names.push_back(kind);
  return names.empty() ? ArrayAttr() : b.getStrArrayAttr(names);
}

/// None for the default.
static std::optional<FlatLayout> layoutOf(const Strategy &strategy) {
  FlatLayout layout = *symbolizeFlatLayout(strategy.bucketLayout);
  return layout == FlatLayout::Aligned ? std::nullopt : std::optional(layout);
}

/// None for the default.
static std::optional<Precision> gradDtypeOf(const Strategy &strategy) {
  Precision type = *symbolizePrecision(strategy.gradDtype);
  return type == Precision::F32 ? std::nullopt : std::optional(type);
}

/// None without groups.
static ArrayAttr groupsOf(Builder &b, const Strategy &strategy) {
  SmallVector<Attribute> names;
  for (const std::string &group : strategy.groups())
    names.push_back(b.getStringAttr(group));
  return names.empty() ? ArrayAttr() : b.getArrayAttr(names);
}

static ConfigAttr configOf(Builder &b, const ModelSpec &spec,
                           const Strategy &strategy) {
  MLIRContext *context = b.getContext();
  std::optional<int64_t> memory, ranksPerHost;
  if (strategy.deviceMemory > 0)
    memory = strategy.deviceMemory;
  if (strategy.ranksPerHost > 0)
    ranksPerHost = strategy.ranksPerHost;
  // A rank alone has no collectives.
  std::optional<int64_t> streams;
  if (strategy.commThread && strategy.mesh.worldSize() > 1)
    streams = MTC_STREAM_COUNT;
  return ConfigAttr::get(
      context,
      ModelAttr::get(context, spec.name, spec.layers, spec.hidden, spec.vocab,
                     spec.paddedVocab),
      strategy.mesh,
      BatchAttr::get(context, strategy.microBatchSize, strategy.microbatches(),
                     strategy.globalBatchSize, strategy.seqLength),
      *symbolizePrecision(strategy.dtype), scheduleOf(b, strategy),
      OptimizerAttr::get(context, *symbolizeOptimizerKind(strategy.optimizer),
                         strategy.zero, strategy.bucketSize, layoutOf(strategy),
                         gradDtypeOf(strategy), groupsOf(b, strategy)),
      TargetAttr::get(context, strategy.target, /*isa=*/StringAttr(),
                      strategy.threadsPerRank, streams, memory, ranksPerHost,
                      epiloguesOf(b, strategy), gemmOf(strategy),
                      prepackOf(strategy)),
      recomputeOf(b, strategy.recompute), overlapOf(b, strategy));
}

void setConfig(ModuleOp module, const ModelSpec &spec,
               const Strategy &strategy) {
  Builder b(module.getContext());
  module->setAttr(configAttrName, configOf(b, spec, strategy));
  module->setAttr(dist::meshAttrName, meshOf(b, strategy));
  module->setAttr(dist::rulesAttrName, rulesOf(b, strategy));
  if (strategy.sequenceParallel && strategy.mesh[MTC_AXIS_TP] > 1)
    module->setAttr(dist::weakSplitAttrName,
                    dist::WeakSplitAttr::get(
                        b.getContext(), ref(toString(LogicalAxis::seq)),
                        ref(axisName(MTC_AXIS_TP)),
                        ref(toString(LogicalAxis::embed))));
  if (strategy.splitSaved && strategy.mesh[MTC_AXIS_TP] > 1)
    module->setAttr(dist::splitSavedAttrName,
                    b.getStringAttr(ref(axisName(MTC_AXIS_TP))));
}

} // namespace mtc::models
