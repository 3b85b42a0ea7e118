//===- update.cpp - the fragments reduce and apply ------------------------===//
#include "passes/verify/backward_sums.h"
#include "passes/verify/checks.h"
#include "passes/verify/parameter_gathers.h"
#include "passes/verify/update_interpreter.h"

#include <optional>

#include <fmt/format.h>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// Where the accumulators begin that no microbatch adds to before the first has
/// stored there. That they are written whole checkViews says, that the first
/// runs first checkTimelines.
std::set<int64_t> storedFirst(const Stage &stage) {
  std::set<int64_t> stored, added;
  for (const Fragment &fragment : stage.fragments)
    for (const Touch &touch : fragment.touches)
      for (const Access &access : touch.accesses)
        if (fragment.isBackward() && access.writes &&
            stage.isAccumulator(access) && !sumsAccumulators(stage, touch))
          (access.storesFirst ? stored : added).insert(access.extent.offset);
  for (int64_t offset : added)
    stored.erase(offset);
  return stored;
}

/// One stage: what its update leaves behind.
class UpdateChecker {
public:
  UpdateChecker(const Model &model, const Stage &stage, UpdateState &state,
                Report &report)
      : model(model), stage(stage), state(state), report(report),
        interpreter(model, stage, state, report),
        gathered(bucketsGatheredInTrain(stage)), stored(storedFirst(stage)) {}

  void check() {
    const Fragment *reduce = stage.update(Phase::Reduce),
                   *apply = stage.update(Phase::Apply);
    if (!reduce || !apply)
      return; // reported by checkTimelines
    runBackwardSums(stage, interpreter, report);
    interpreter.run(*reduce);
    checkLoss(*reduce);
    checkNorm(*reduce);
    interpreter.run(*apply);
    for (rt::BucketOp bucket : stage.buckets) {
      expectCleared(*apply, bucket);
      if (bucket.isSecondUse())
        continue;
      expectAll(*apply, {Part::Param, indexOf(bucket)}, Cell::Kind::Updated,
                isGathered(bucket) ? "updated on its owner"
                                   : "updated on every rank");
      for (StringRef name : bucket.stateNames())
        expectAll(*apply, {Part::State, indexOf(bucket), name},
                  Cell::Kind::Updated, "updated");
    }
  }

private:
  static int64_t indexOf(rt::BucketOp bucket) { return bucket.getIndex(); }
  /// Whether forwards gather its parameters.
  bool isGathered(rt::BucketOp bucket) const {
    return gathered.count(bucket.getIndex());
  }

  void checkLoss(const Fragment &reduce) {
    state.cells({Part::Loss}).forEach(0, 1, [&](int64_t, int64_t, Copies &c) {
      if (c.own.is(Cell::Kind::Gradient) && !state.partialOver(c.own).empty())
        report.error(reduce.fn)
            << "expected the loss to be summed over all ranks, found "
            << describe(state, c.own);
      if (c.own.is(Cell::Kind::Gradient) && !c.own.counted)
        report.error(reduce.fn)
            << "expected the norm to check the loss, so that every rank stops "
               "where it is not finite, found a norm without it";
    });
  }

  void checkNorm(const Fragment &reduce) {
    if (!interpreter.hasNorm())
      report.error(reduce.fn) << "expected the norm to be reset, reduced over "
                                 "all ranks and finished, found it unfinished";
    for (const Param &param : stage.params) {
      if (!param.isOwner() || !stage.bucket(param.bucket()))
        continue; // without a bucket: reported by checkOwners
      Slice slice{Part::Grad, param.bucket(), {}, param.start(), param.end()};
      slice.ownShard = stage.isSharded(param.bucket());
      expect(reduce, slice, "in the norm",
             [](const Cell &cell) { return cell.counted; });
    }
  }

  /// What the first microbatch of the next step adds to, and padding: whatever
  /// added to it would add again.
  void expectCleared(const Fragment &apply, rt::BucketOp bucket) {
    Slice slice{Part::Grad, indexOf(bucket)};
    slice.end = state.cells(slice).size();
    slice.ownShard = stage.shardsGradients(slice.bucket);
    expect(
        apply, slice, "cleared for the next step",
        [](const Cell &cell) { return cell.is(Cell::Kind::Zero); },
        [&](const Param *param) {
          return param && stored.count(*bucket.getGradOffset() +
                                       bucket.gradBytes() * param->start());
        });
  }

  /// Every element of every parameter of a buffer.
  void expectAll(const Fragment &where, Slice slice, Cell::Kind kind,
                 StringRef what) {
    slice.end = state.cells(slice).size();
    slice.ownShard =
        slice.part == Part::State ||
        (slice.part == Part::Param && gathered.count(slice.bucket));
    expect(where, slice, what,
           [kind](const Cell &cell) { return cell.is(kind); });
  }

  void expect(const Fragment &where, const Slice &slice, StringRef what,
              llvm::function_ref<bool(const Cell &)> holds,
              llvm::function_ref<bool(const Param *)> isExempt = nullptr) {
    state.cells(slice).forEach(
        slice.begin, slice.end,
        [&](int64_t begin, int64_t end, Copies &copies) {
          const Param *param = state.paramAt(slice.bucket, begin);
          if (!param && slice.part != Part::Grad)
            return;
          if (isExempt && isExempt(param))
            return;
          bool others = slice.ownShard || holds(copies.others);
          if (holds(copies.own) && others)
            return;
          std::string name =
              param ? fmt::format("all of \"{}\"", param->name().str())
                    : "padding";
          const Cell &wrong = holds(copies.own) ? copies.others : copies.own;
          report.error(where.fn)
              << "expected " << name << " to be " << what << ", found elements "
              << begin << " to " << end << " of bucket " << slice.bucket
              << " to be " << describe(state, wrong);
        });
  }

  const Model &model;
  const Stage &stage;
  UpdateState &state; ///< also what collectives between stages add up
  Report &report;
  UpdateInterpreter interpreter;
  std::set<int64_t> gathered; ///< buckets that forwards gather
  std::set<int64_t> stored;   ///< offsets of accumulators (storedFirst)
};

/// The k-th collective between the ends of the pipeline adds the same elements
/// of the same parameters on both.
void checkBetweenStages(const UpdateState &first, const UpdateState &last,
                        Report &report) {
  for (auto [a, b] : llvm::zip(first.betweenStages, last.betweenStages))
    if (a.second != b.second)
      report.error(b.first)
          << "expected the same elements of the same parameters on both ends "
             "of the pipeline, found others than on the first stage";
}

} // namespace

void checkUpdate(const Model &model, Report &report) {
  std::set<std::string> shared = sharedParameters(model);
  std::vector<std::optional<UpdateState>> states(model.stages.size());
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    UpdateState &state = states[stage.index].emplace(model, stage, shared);
    UpdateChecker(model, stage, state, found).check();
  });
  if (states.size() > 1)
    checkBetweenStages(*states.front(), *states.back(), report);
}

} // namespace mtc::passes::verify
