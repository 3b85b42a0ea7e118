//===- owners.cpp - who owns which parameter ------------------------------===//
#include "dialects/tfm/DtypePolicy.h"
#include "passes/verify/checks.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// A parameter as the model has it: a row of mtc.params.
struct Wanted {
  ArrayRef<int64_t> shape, local;
  int64_t split = -1;
  StringRef axis; ///< that splits; empty: none
};

/// A parameter on a stage (with its values, not only an accumulator).
struct Holder {
  const Stage *stage;
  mutable rt::ParamOp op;
};

bool isSecondUse(rt::BucketOp bucket) { return bucket.getSecondUseOf() >= 0; }

class OwnerChecker {
public:
  OwnerChecker(const Model &model, Report &report)
      : model(model), report(report) {}

  void check() {
    readWanted();
    for (const Stage &stage : model.stages) {
      for (rt::ParamOp param : stage.params)
        visit(stage, param);
      checkBuckets(stage);
      checkArenas(stage);
    }
    for (auto &[name, each] : wanted)
      checkHolders(name);
    checkLayers();
  }

private:
  void readWanted() {
    auto rows = model.module->getAttrOfType<ArrayAttr>("mtc.params");
    if (!rows) {
      report.error(model.module)
          << "expected the attribute mtc.params (written by cut-stages)";
      return;
    }
    for (auto row : rows.getAsRange<DictionaryAttr>()) {
      auto name = row.getAs<StringAttr>("name");
      auto shape = row.getAs<DenseI64ArrayAttr>("shape");
      auto local = row.getAs<DenseI64ArrayAttr>("local");
      auto split = row.getAs<IntegerAttr>("split_dim");
      auto axis = row.getAs<StringAttr>("split_axis");
      if (!name || !shape || !local || !split ||
          (split.getInt() >= 0) != static_cast<bool>(axis))
        report.error(model.module)
            << "expected name, shape, local and split_dim in every row of "
               "mtc.params, and split_axis if it is split";
      else if (!wanted
                    .try_emplace(name.str(),
                                 Wanted{shape, local, split.getInt(),
                                        axis ? axis.getValue() : ""})
                    .second)
        report.error(model.module)
            << "expected each parameter once in mtc.params, found \""
            << name.getValue() << "\" again";
    }
  }

  void visit(const Stage &stage, rt::ParamOp param) {
    std::string name = param.getName().str();
    auto it = wanted.find(name);
    if (it == wanted.end()) {
      report.error(param) << "expected a parameter of the model, found \""
                          << name << "\"";
      return;
    }
    const Wanted &want = it->second;
    if (param.getShape() != want.shape || param.getLocal() != want.local ||
        param.getSplitDim() != want.split ||
        (want.split >= 0 && param.getSplitAxis() != want.axis))
      report.error(param) << "expected shape, shard and split of \"" << name
                          << "\" as in mtc.params, found others";
    for (const AxisInfo &axis : kAxes)
      if (axis.data && isSplitOver(param, axis))
        report.error(param)
            << "expected the same \"" << name << "\" on every " << axis.name
            << " rank, as its gradient is summed over them, found it split";
    checkShard(param);
    rt::BucketOp bucket = stage.bucket(param.getBucket());
    if (!bucket)
      report.error(param) << "expected a bucket of stage " << stage.index
                          << ", found bucket " << param.getBucket();
    else if (!isSecondUse(bucket))
      holders[name].push_back({&stage, param});
  }

  /// Shards of all coordinates along its axis together are the parameter.
  void checkShard(rt::ParamOp param) {
    int64_t split = param.getSplitDim();
    int64_t shards = 1;
    for (const AxisInfo &axis : kAxes)
      if (isSplitOver(param, axis))
        shards = model.mesh[axis.id];
    int64_t found = product(param.getLocal()) * shards,
            expected = product(param.getShape());
    if (found != expected)
      report.error(param) << "expected shards of " << expected
                          << " elements in total, found " << shards << " of "
                          << product(param.getLocal());
    if (param.getShape().size() != param.getLocal().size())
      return;
    for (auto [i, dims] :
         llvm::enumerate(llvm::zip(param.getShape(), param.getLocal()))) {
      auto [global, local] = dims;
      int64_t parts = static_cast<int64_t>(i) == split ? shards : 1;
      if (local * parts != global)
        report.error(param)
            << "expected dimension " << i << " of the shard to be " << global
            << " / " << parts << ", found " << local;
    }
  }

  void checkHolders(const std::string &name) {
    const std::vector<Holder> &all = holders[name];
    int64_t owners =
        llvm::count_if(all, [](const Holder &h) { return h.op.getOwner(); });
    if (owners != 1) {
      Operation *at = all.empty() ? model.module.getOperation()
                                  : all.back().op.getOperation();
      report.error(at) << "expected exactly one owner of parameter \"" << name
                       << "\", found " << owners << " on " << all.size()
                       << " stages";
    }
    std::set<int64_t> stages;
    for (const Holder &holder : all) {
      if (!stages.insert(holder.stage->index).second)
        report.error(holder.op)
            << "expected parameter \"" << name << "\" once on stage "
            << holder.stage->index << ", found it again";
      bool atEnd = holder.stage->index == 0 ||
                   holder.stage->index == model.mesh.stages() - 1;
      if (all.size() > 1 && !atEnd)
        report.error(holder.op)
            << "expected copies of \"" << name
            << "\" on the first and last stage only (group embd), found one on "
               "stage "
            << holder.stage->index;
    }
  }

  static int64_t layerOf(StringRef name) {
    int64_t layer = -1;
    if (!name.consume_front("layers.") ||
        name.split('.').first.getAsInteger(10, layer))
      return -1;
    return layer;
  }

  void checkLayers() {
    std::map<int64_t, std::set<int64_t>> stagesOf;
    std::vector<int64_t> counts(model.mesh.stages());
    for (auto &[name, all] : holders)
      for (const Holder &holder : all)
        if (int64_t layer = layerOf(name); layer >= 0)
          if (stagesOf[layer].insert(holder.stage->index).second)
            ++counts[holder.stage->index];
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
    if (static_cast<int64_t>(model.layersPerStage.size()) ==
        model.mesh.stages())
      for (const Stage &stage : model.stages)
        if (counts[stage.index] != model.layersPerStage[stage.index])
          report.error(stage.op)
              << "expected " << model.layersPerStage[stage.index]
              << " layers on stage " << stage.index << ", found "
              << counts[stage.index];
  }

  /// Parameters of a bucket lie side by side; ZeRO shards are all of it.
  void checkBuckets(const Stage &stage) {
    std::set<int64_t> indices;
    for (rt::BucketOp bucket : stage.buckets) {
      int64_t index = bucket.getIndex();
      if (!indices.insert(index).second)
        report.error(bucket)
            << "expected each bucket once, found bucket " << index << " again";
      int64_t elements = bucket.getElements();
      int64_t shard = bucket.getShard();
      if (bucket.getZero() != model.zero)
        report.error(bucket)
            << "expected zero " << (model.zero ? "true" : "false")
            << " as the strategy says, found otherwise";
      Type expected = tfm::dtypePolicy(model.module).compute;
      if (bucket.paramType() != expected)
        report.error(bucket)
            << "expected parameters of type " << expected
            << " (dtype of mtc.config), found " << bucket.paramType();
      int64_t shards = model.zero ? model.mesh[MTC_AXIS_DP] : 1;
      if (shard * shards != elements)
        report.error(bucket)
            << "expected " << shards << " shards of together " << elements
            << " elements, found shards of " << shard;
      if (isSecondUse(bucket)) {
        rt::BucketOp first = stage.bucket(bucket.getSecondUseOf());
        if (!first || isSecondUse(first) ||
            first.getElements() != bucket.getElements())
          report.error(bucket) << "expected the second use of a bucket of "
                                  "parameters of the same "
                                  "size, found bucket "
                               << bucket.getSecondUseOf();
      }
      checkInside(stage, bucket);
    }
  }

  void checkInside(const Stage &stage, rt::BucketOp bucket) {
    std::vector<std::pair<int64_t, rt::ParamOp>> inside;
    for (rt::ParamOp param : stage.params)
      if (param.getBucket() == bucket.getIndex())
        inside.push_back({param.getStart(), param});
    std::stable_sort(inside.begin(), inside.end(),
                     [](auto &a, auto &b) { return a.first < b.first; });
    int64_t at = 0;
    for (auto &[start, param] : inside) {
      if (start < at)
        report.error(param)
            << "expected \"" << param.getName() << "\" from element " << at
            << " of bucket " << bucket.getIndex() << " or later, found "
            << start;
      at = std::max(at, start + product(param.getLocal()));
    }
    int64_t unpadded = bucket.getUnpadded();
    if (at != unpadded || unpadded > bucket.getElements())
      report.error(bucket) << "expected parameters to end at " << unpadded
                           << " of " << bucket.getElements()
                           << " elements, found their end at " << at;
  }

  /// Buckets, moments and the loss have bytes of their own.
  void checkArenas(const Stage &stage) {
    struct Place {
      int64_t begin, end;
      Operation *op;
    };
    std::array<std::vector<Place>, 3> places;
    auto add = [&](int64_t arena, int64_t begin, int64_t elements,
                   Operation *op, int64_t bytes = 4) {
      places[arena].push_back({begin, begin + bytes * elements, op});
    };
    for (rt::BucketOp bucket : stage.buckets) {
      add(MTC_ARENA_GRADS, bucket.getGradOffset(), bucket.getElements(),
          bucket);
      if (isSecondUse(bucket))
        continue;
      add(MTC_ARENA_PARAMS, bucket.getParamOffset(), bucket.getElements(),
          bucket, bucket.paramBytes());
      if (bucket.keepsMain())
        add(MTC_ARENA_OPTIMIZER, bucket.getMainOffset(), bucket.getShard(),
            bucket);
      add(MTC_ARENA_OPTIMIZER, bucket.getExpAvgOffset(), bucket.getShard(),
          bucket);
      add(MTC_ARENA_OPTIMIZER, bucket.getExpAvgSqOffset(), bucket.getShard(),
          bucket);
    }
    add(MTC_ARENA_GRADS, stage.lossOffset, 1, stage.op);
    for (int64_t arena = 0; arena < 3; ++arena) {
      std::stable_sort(
          places[arena].begin(), places[arena].end(),
          [](const Place &a, const Place &b) { return a.begin < b.begin; });
      int64_t at = 0;
      for (const Place &place : places[arena]) {
        if (place.begin < at)
          report.error(place.op) << "expected bytes of its own in the arena "
                                 << kArenas[arena].name << ", from " << at
                                 << " or later, found " << place.begin;
        if (place.begin % 64 != 0)
          report.error(place.op)
              << "expected an offset in multiples of 64 bytes in the arena "
              << kArenas[arena].name << ", found " << place.begin;
        at = std::max(at, place.end);
      }
      if (at > stage.arenas[arena])
        report.error(stage.op)
            << "expected an arena " << kArenas[arena].name << " of at least "
            << at << " bytes, found " << stage.arenas[arena];
    }
  }

  const Model &model;
  Report &report;
  std::map<std::string, Wanted> wanted;
  std::map<std::string, std::vector<Holder>> holders;
};

} // namespace

void checkOwners(const Model &model, Report &report) {
  OwnerChecker(model, report).check();
}

} // namespace mtc::passes::verify
