//===- backward_sums.cpp - sums of gradients before the update ------------===//
#include "passes/verify/backward_sums.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// An access of accumulators by a fragment.
struct Use {
  const Touch *touch;
  Extent extent;
  int64_t place; ///< in its fragment
};

class BackwardSums {
public:
  BackwardSums(const Stage &stage, const Timeline &train,
               UpdateInterpreter &interpreter, Report &report)
      : stage(stage), rows(train.rows), interpreter(interpreter),
        report(report) {
    for (const Row &row : rows)
      if (row.fragment && !row.fragment->isUpdate())
        lastRow[row.fragment] = &row;
    for (const Fragment &fragment : stage.fragments)
      if (!fragment.isUpdate())
        read(fragment);
  }

  void run() {
    for (const Row &row : rows)
      if (auto found = sums.find(row.fragment); found != sums.end())
        for (const Use &sum : found->second)
          run(row, sum);
  }

private:
  void read(const Fragment &fragment) {
    for (auto [place, touch] : llvm::enumerate(fragment.touches))
      for (const Access &access : touch.accesses)
        if (stage.isAccumulator(access))
          (sumsAccumulators(stage, touch) ? sums : others)[&fragment].push_back(
              {&touch, access.extent, int64_t(place)});
  }

  /// What is wrong with a second run is wrong with all that follow.
  void run(const Row &row, const Use &sum) {
    if (++runs[sum.touch] > 2)
      return;
    expectLast(row, sum);
    interpreter.run(*sum.touch);
  }

  void expectLast(const Row &row, const Use &sum) {
    for (const Fragment &fragment : stage.fragments)
      for (const Use &other : others[&fragment]) {
        const Row *last = lastRow[&fragment];
        bool isLater =
            last == &row ? other.place > sum.place : last && last > &row;
        if (!isLater || !other.extent.overlaps(sum.extent))
          continue;
        auto diag = report.error(sum.touch->op)
                    << "expected gradients to be summed over ranks behind all "
                       "that microbatches add to them, found \""
                    << fragment.name() << "\" of microbatch "
                    << last->microbatch << " to touch them later";
        diag.attachNote(other.touch->op->getLoc()) << "touched here";
        return;
      }
  }

  const Stage &stage;
  const std::vector<Row> &rows; ///< of train
  UpdateInterpreter &interpreter;
  Report &report;
  // Looked up only.
  std::map<const Fragment *, const Row *> lastRow;
  std::map<const Fragment *, std::vector<Use>> sums, others;
  std::map<const Touch *, int64_t> runs;
};

} // namespace

void runBackwardSums(const Stage &stage, UpdateInterpreter &interpreter,
                     Report &report) {
  auto train = stage.timelines.find("train");
  if (train != stage.timelines.end()) // reported by checkTimelines
    BackwardSums(stage, train->second, interpreter, report).run();
}

} // namespace mtc::passes::verify
