//===- owners.cpp - who owns which parameter ------------------------------===//
#include "dialects/tfm/Optimizers.h"
#include "dialects/tfm/Tfm.h"
#include "passes/verify/checks.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// A parameter on a stage (with its values, not only an accumulator).
struct Holder {
  const Stage *stage;
  Param param;
};

class OwnerChecker {
public:
  OwnerChecker(const Model &model, Report &report)
      : model(model), report(report) {}

  void check() {
    for (auto &[name, param] : model.parameters)
      if (tfm::RepeatsAttr repeats =
              pipe::ParameterOp(param).getParam().getRepeats())
        repeated.try_emplace(
            pipe::ParameterOp(param).getParam().getAxes()[repeats.getDim()],
            name);
    for (auto &[name, param] : model.parameters)
      checkParameter(param);
    for (const Stage &stage : model.stages) {
      for (const Param &param : stage.params)
        visit(stage, param);
      checkBuckets(stage);
      checkArenas(stage);
    }
    for (auto &[name, param] : model.parameters)
      checkHolders(name);
    checkSlices();
    for (auto &[name, param] : model.parameters)
      checkUses(param);
  }

private:
  void checkParameter(pipe::ParameterOp param) {
    checkRepeats(param);
    // Its shards are equal parts.
    for (const AxisInfo &axis : kAxes)
      if (axis.headAndTail && param.isSplitOver(axis.name))
        report.error(param)
            << "expected the same \"" << param.getName() << "\" on every "
            << axis.name << " rank, which have two pieces of what they split, "
            << "found it split";
  }

  void visit(const Stage &stage, const Param &param) {
    if (!uses.insert({param.name().str(), param.op.getUse()}).second)
      report.error(param.op)
          << "expected each use of \"" << param.name()
          << "\" on one stage, found use " << param.op.getUse() << " again";
    bool alone = llvm::count_if(stage.params, [&](const Param &other) {
                   return other.name() == param.name() &&
                          other.bucket() == param.bucket();
                 }) == 1;
    if (!alone) // sums know which uses are in them by their buckets
      report.error(param.op) << "expected the uses of \"" << param.name()
                             << "\" in buckets of their own, found two in "
                                "bucket "
                             << param.bucket();
    checkPartial(param);
    rt::BucketOp bucket = stage.bucket(param.bucket());
    if (!bucket)
      report.error(param.op) << "expected a bucket of stage " << stage.index
                             << ", found bucket " << param.bucket();
    else if (bucket.paramType() != param.of.elementType())
      report.error(param.op) << "expected a bucket of parameters of type "
                             << param.of.elementType()
                             << ", which its pipe.parameter has, found bucket "
                             << param.bucket() << " of " << bucket.paramType();
    else if (!bucket.isSecondUse())
      holders[param.name().str()].push_back({&stage, param});
  }

  /// A sum over ranks must leave them what they had the same of before. Ranks
  /// that have the same of a parameter have parts of its gradient where they
  /// have parts of one index, and where their data differ; but not where the
  /// axis splits some parameter, as these bring data of all ranks together.
  void checkPartial(const Param &param) {
    ArrayRef<MtcGroup> partial = param.op.partialGroups();
    std::vector<MtcGroup> same = param.of.groupsWithSame();
    for (MtcGroup group : partial)
      if (!llvm::is_contained(same, group))
        report.error(param.op)
            << "expected a gradient that is partial over ranks that have the "
               "same of its parameter, found \""
            << param.name() << "\" partial over " << groupName(group);
    for (const AxisInfo &axis : kAxes)
      if (model.mesh.hasPartialSums(axis) && !model.splits(axis.id) &&
          !llvm::is_contained(partial, groupAlong(axis.id)))
        report.error(param.op)
            << "expected a gradient that is partial over " << axis.name
            << ", whose ranks have other data and the same of \""
            << param.name() << "\", found one that is not";
    if (param.of.getParam().getRepeats() &&
        !llvm::is_contained(partial, MTC_GROUP_KV))
      report.error(param.op)
          << "expected a gradient that is partial over "
          << groupName(MTC_GROUP_KV) << ", whose ranks have the same indices "
          << "of \"" << param.name() << "\", found one that is not";
  }

  /// Of a parameter that ranks in a row have the same of, these are the ranks
  /// of the group kv, and they have the same of all that is split along its
  /// logical axis.
  void checkRepeats(pipe::ParameterOp param) {
    tfm::RepeatsAttr repeats = param.getParam().getRepeats();
    dist::Split split = param.split();
    if (!repeats && split.axis)
      if (auto it = repeated.find(param.getParam().getAxes()[split.dim]);
          it != repeated.end())
        report.error(param)
            << "expected the indices of \"" << param.getName() << "\" along "
            << it->first << " several times, as \"" << it->second
            << "\" has its own, found them once";
    int64_t ranks = model.mesh.groupSize(MTC_GROUP_KV);
    StringRef along = axisName(*kGroups[MTC_GROUP_KV].sumAxis());
    if (!repeats || (repeats.getTimes() == ranks && param.isSplitOver(along)))
      return;
    report.error(param) << "expected the indices of \"" << param.getName()
                        << "\" on " << ranks << " ranks along " << along
                        << ", as kv of the mesh says, found them "
                        << repeats.getTimes() << " times in "
                        << param.getShardingAttr();
  }

  void checkHolders(const std::string &name) {
    const std::vector<Holder> &all = holders[name];
    int64_t owners =
        llvm::count_if(all, [](const Holder &h) { return h.param.isOwner(); });
    if (owners != 1) {
      Operation *at = all.empty() ? model.module.getOperation()
                                  : all.back().param.op.getOperation();
      report.error(at) << "expected exactly one owner of parameter \"" << name
                       << "\", found " << owners << " on " << all.size()
                       << " stages";
    }
    std::set<int64_t> stages;
    for (const Holder &holder : all) {
      if (!stages.insert(holder.stage->index).second)
        report.error(holder.param.op)
            << "expected parameter \"" << name << "\" once on stage "
            << holder.stage->index << ", found it again";
      bool atEnd = holder.stage->index == 0 ||
                   holder.stage->index == model.mesh.stages() - 1;
      if (all.size() > 1 && !atEnd)
        report.error(holder.param.op) << "expected copies of \"" << name
                                      << "\" on the first and last stage only "
                                         "(group embedding), found one on "
                                         "stage "
                                      << holder.stage->index;
    }
  }

  /// The slices of a tensor of the model are all of it, and no index is in two.
  void checkSlices() {
    std::map<std::string, std::vector<pipe::ParameterOp>> slices;
    for (auto &[name, param] : model.parameters) {
      pipe::ParameterOp op = param;
      if (tfm::SliceAttr slice = op.getParam().getSlice())
        slices[slice.getOf().str()].push_back(op);
    }
    for (auto &[tensor, all] : slices)
      checkTensor(tensor, all);
  }

  void checkTensor(const std::string &tensor,
                   std::vector<pipe::ParameterOp> &slices) {
    auto sliceOf = [](pipe::ParameterOp op) {
      return op.getParam().getSlice();
    };
    if (auto it = model.parameters.find(tensor); it != model.parameters.end())
      report.error(it->second) << "expected no parameter \"" << tensor
                               << "\" beside slices of it, found one";
    llvm::stable_sort(slices, [&](pipe::ParameterOp a, pipe::ParameterOp b) {
      return sliceOf(a).getFirst() < sliceOf(b).getFirst();
    });
    tfm::SliceAttr first = sliceOf(slices.front());
    int64_t at = 0;
    for (pipe::ParameterOp op : slices) {
      tfm::SliceAttr slice = sliceOf(op);
      if (slice.getShape() != first.getShape() ||
          slice.getAxes() != first.getAxes() ||
          slice.getDim() != first.getDim())
        report.error(op) << "expected slices of \"" << tensor << "\" along "
                         << first.getDim() << " of " << first.getShape()
                         << ", as \"" << slices.front().getName()
                         << "\" is one, found " << slice;
      if (slice.getFirst() != at)
        report.error(op) << "expected indices of \"" << tensor << "\" from "
                         << at << " on, so that each is in one slice, found \""
                         << op.getName() << "\" from " << slice.getFirst();
      at = slice.getFirst() + slice.getSize();
    }
    int64_t end = first.getShape()[first.getDim()];
    if (at != end)
      report.error(slices.back())
          << "expected slices of \"" << tensor << "\" up to index " << end
          << ", found the last, \"" << slices.back().getName() << "\", up to "
          << at;
  }

  /// Each gradient of a parameter has an accumulator on some stage.
  void checkUses(pipe::ParameterOp param) {
    std::string name = param.getName().str();
    auto first = uses.lower_bound({name, 0});
    auto end = uses.lower_bound({name, param.getUses()});
    int64_t found = std::distance(first, end);
    int64_t all = llvm::count_if(
        uses, [&](const auto &use) { return use.first == name; });
    if (found != int64_t(param.getUses()) || all != found)
      report.error(param) << "expected the uses 0 to " << param.getUses() - 1
                          << " of \"" << name << "\" on the stages, found "
                          << found << " of them and " << all - found
                          << " others";
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
      DtypePolicy types = model.config.types();
      if (!types.stores(bucket.paramType()))
        report.error(bucket)
            << "expected parameters of type " << types.storedTypes()
            << " (precision of mtc.config), found " << bucket.paramType();
      Type sums = types.accumulatorOf(bucket.paramType());
      if (bucket.gradType() != sums)
        report.error(bucket)
            << "expected accumulators of type " << sums << " for parameters of "
            << bucket.paramType() << " (grad_dtype of mtc.config), found "
            << bucket.gradType();
      int64_t shards = stage.isSharded(index) ? model.mesh[MTC_AXIS_DP] : 1;
      if (saturatingMul(shard, shards) != elements)
        report.error(bucket)
            << "expected " << shards << " shards of together " << elements
            << " elements, found shards of " << shard;
      if (bucket.getShardGradients() != stage.shardsGradients(index))
        report.error(bucket) << "expected accumulators of "
                             << (stage.shardsGradients(index)
                                     ? "the shard only (shard_gradients)"
                                     : "all of the bucket")
                             << ", as zero of mtc.config says, found the other";
      if (bucket.isSecondUse())
        checkSecondUse(stage, bucket);
      else
        checkStates(bucket);
      checkInside(stage, bucket);
    }
  }

  void checkSecondUse(const Stage &stage, rt::BucketOp bucket) {
    int64_t of = *bucket.getSecondUseOf();
    rt::BucketOp first = stage.bucket(of);
    if (!first || first.isSecondUse() ||
        first.getElements() != bucket.getElements())
      report.error(bucket) << "expected the second use of a bucket of "
                              "parameters of the same size, found bucket "
                           << of;
  }

  /// What the optimizer keeps, and main parameters beside those of a narrow
  /// type.
  void checkStates(rt::BucketOp bucket) {
    ArrayRef<StringRef> states =
        tfm::optimizerOf(model.config.getOptimizer().getKind()).states;
    std::set<StringRef> expected(states.begin(), states.end());
    if (model.config.types().keepsMain(bucket.paramType()))
      expected.insert("main");
    SmallVector<StringRef> names = bucket.stateNames();
    std::set<StringRef> found(names.begin(), names.end());
    if (found == expected && names.size() == expected.size())
      return;
    auto diag = report.error(bucket) << "expected the states ";
    llvm::interleaveComma(expected, diag);
    diag << ", once each, found ";
    llvm::interleaveComma(names, diag);
  }

  void checkInside(const Stage &stage, rt::BucketOp bucket) {
    std::vector<Param> inside;
    for (const Param &param : stage.params)
      if (param.bucket() == bucket.getIndex())
        inside.push_back(param);
    llvm::stable_sort(inside, [](const Param &a, const Param &b) {
      return a.start() < b.start();
    });
    int64_t at = 0;
    for (const Param &param : inside) {
      if (param.start() < at)
        report.error(param.op)
            << "expected \"" << param.name() << "\" from element " << at
            << " of bucket " << bucket.getIndex() << " or later, found "
            << param.start();
      at = std::max(at, param.end());
    }
    int64_t unpadded = bucket.getUnpadded();
    if (at != unpadded || unpadded > bucket.getElements())
      report.error(bucket) << "expected parameters to end at " << unpadded
                           << " of " << bucket.getElements()
                           << " elements, found their end at " << at;
  }

  /// Buckets, moments and the loss have bytes of their own, and the step has
  /// its state.
  void checkArenas(const Stage &stage) {
    struct Range {
      int64_t begin, end;
      Operation *op;
    };
    std::array<std::vector<Range>, 3> ranges;
    auto add = [&](int64_t arena, int64_t begin, int64_t elements,
                   Operation *op, int64_t bytes = 4) {
      ranges[arena].push_back(
          {begin, saturatingAdd(begin, saturatingMul(bytes, elements)), op});
    };
    for (rt::BucketOp bucket : stage.buckets) {
      add(MTC_ARENA_GRADS, *bucket.getGradOffset(), bucket.gradElements(),
          bucket, bucket.gradBytes());
      if (bucket.isSecondUse())
        continue;
      add(MTC_ARENA_PARAMS, *bucket.getParamOffset(), bucket.getElements(),
          bucket, bucket.paramBytes());
      for (StringRef state : bucket.stateNames())
        add(MTC_ARENA_OPTIMIZER, *bucket.stateOffset(state), bucket.getShard(),
            bucket);
    }
    add(MTC_ARENA_GRADS, stage.lossOffset, 1, stage.op);
    for (int64_t arena = 0; arena < 3; ++arena) {
      std::stable_sort(
          ranges[arena].begin(), ranges[arena].end(),
          [](const Range &a, const Range &b) { return a.begin < b.begin; });
      int64_t at = 0;
      for (const Range &range : ranges[arena]) {
        if (range.begin < at)
          report.error(range.op) << "expected bytes of its own in the arena "
                                 << kArenas[arena].name << ", from " << at
                                 << " or later, found " << range.begin;
        if (range.begin % 64 != 0)
          report.error(range.op)
              << "expected an offset in multiples of 64 bytes in the arena "
              << kArenas[arena].name << ", found " << range.begin;
        at = std::max(at, range.end);
      }
      checkSize(stage, arena, at);
    }
    checkSize(stage, MTC_ARENA_STEP, sizeof(MtcStepState));
  }

  void checkSize(const Stage &stage, int64_t arena, int64_t least) {
    if (stage.arenas[arena] < least)
      report.error(stage.op)
          << "expected an arena " << kArenas[arena].name << " of at least "
          << least << " bytes, found " << stage.arenas[arena];
  }

  const Model &model;
  Report &report;
  std::map<std::string, std::vector<Holder>> holders;
  /// Logical axes whose indices are repeated, each with a parameter that has
  /// it; looked up only.
  llvm::DenseMap<Attribute, std::string> repeated;
  std::set<std::pair<std::string, int64_t>> uses;
};

} // namespace

void checkOwners(const Model &model, Report &report) {
  OwnerChecker(model, report).check();
}

} // namespace mtc::passes::verify
