//===- backward_sums.cpp - sums of gradients before the update ------------===//
#include "passes/verify/backward_sums.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

bool counts(const Touch &touch) {
  auto product = dyn_cast<rt::GemmOp>(touch.op);
  return product && product.getCountsLast();
}

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
      if (row.fragment && !row.fragment->isUpdate()) {
        lastRow[row.fragment] = &row;
        lastOfForms[formsOf(row)] = &row;
      }
    for (const Fragment &fragment : stage.fragments)
      if (!fragment.isUpdate())
        read(fragment);
  }

  void run() {
    for (const Row &row : rows)
      if (auto found = ends.find(row.fragment); found != ends.end())
        for (const Use &end : found->second)
          if (!counts(*end.touch) || isLast(row))
            run(row, end);
  }

private:
  /// What the forms of a fragment have in common.
  using Forms = std::pair<Phase, int64_t>; // and chunk
  static Forms formsOf(const Row &row) {
    return {row.fragment->phase(), row.fragment->of.getChunk()};
  }
  /// Whether products of the row that count do, in this one.
  bool isLast(const Row &row) const {
    return lastOfForms.at(formsOf(row)) == &row;
  }

  /// The norm belongs to `reduce`: before it only products count.
  void expectNoNorm(const Fragment &fragment) {
    for (const Touch &touch : fragment.touches)
      if (rt::touchesNorm(touch.op) && !counts(touch))
        report.error(touch.op) << "expected steps of the norm only in the "
                                  "update, found one in \""
                               << fragment.name() << "\"";
  }

  void read(const Fragment &fragment) {
    expectNoNorm(fragment);
    for (auto [place, touch] : llvm::enumerate(fragment.touches))
      for (const Access &access : touch.accesses)
        if (stage.isAccumulator(access)) {
          const Use use{&touch, access.extent, int64_t(place)};
          const bool isSum = sumsAccumulators(stage, touch);
          if (isSum || counts(touch))
            ends[&fragment].push_back(use);
          if (!isSum)
            others[&fragment].push_back(use);
        }
  }

  /// What is wrong with a second run is wrong with all that follow.
  void run(const Row &row, const Use &end) {
    if (++runs[end.touch] > 2)
      return;
    expectLast(row, end);
    if (counts(*end.touch))
      interpreter.countProduct(*end.touch);
    else
      interpreter.run(*end.touch);
  }

  void expectLast(const Row &row, const Use &end) {
    for (const Fragment &fragment : stage.fragments)
      for (const Use &other : others[&fragment]) {
        const Row *last = lastRow[&fragment];
        bool isLater =
            last == &row ? other.place > end.place : last && last > &row;
        if (!isLater || !other.extent.overlaps(end.extent))
          continue;
        auto diag = report.error(end.touch->op)
                    << "expected gradients to be "
                    << (counts(*end.touch) ? "counted for the norm"
                                           : "summed over ranks")
                    << " behind all that microbatches add to them, found \""
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
  std::map<Forms, const Row *> lastOfForms;
  /// What sums accumulators over ranks or counts them, and what else touches
  /// them, this with products that count.
  std::map<const Fragment *, std::vector<Use>> ends, others;
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
