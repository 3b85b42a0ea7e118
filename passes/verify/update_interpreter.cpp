//===- update_interpreter.cpp - what reduce and apply do ------------------===//
#include "passes/verify/update_interpreter.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mtc::passes::verify {

bool UpdateInterpreter::resetsForNext(const Stage &stage) {
  const Fragment *reduce = stage.update(Phase::Reduce);
  return reduce && rt::leavesNormReset(reduce->fn);
}

void UpdateInterpreter::run(const Fragment &fragment) {
  for (const Touch &touch : fragment.touches)
    run(touch);
}

void UpdateInterpreter::run(const Touch &touch) {
  llvm::TypeSwitch<Operation *>(touch.op)
      .Case([&](rt::CollectiveOp op) { collective(touch, op); })
      .Case([&](rt::LaunchOp op) { launch(touch, op); })
      .Case([&](rt::ZeroOp) { clear(touch); })
      .Case([&](rt::NormOp op) {
        switch (op.getAction()) {
        case rt::NormAction::Reset:
          return isResetForNext
                     ? normStep(touch, "reset", Norm::Finished, Norm::Reset)
                     : normStep(touch, "reset", Norm::None, Norm::Summing);
        case rt::NormAction::Accumulate:
          normStep(touch, "accumulate", Norm::Summing, Norm::Summing);
          return count(touch, op);
        case rt::NormAction::Check:
          normStep(touch, "check", Norm::Summing, Norm::Summing);
          return checkLoss(touch);
        case rt::NormAction::Finish:
          return normStep(touch, "finish", Norm::Reduced, Norm::Finished);
        }
      })
      .Default([&](Operation *op) {
        report.error(op) << "expected launches, collectives, steps of the norm "
                            "and clearing in the update, found this";
      });
}

void UpdateInterpreter::change(const Touch &touch, const Slice &slice,
                               StringRef expected, Visit visit) {
  std::string why;
  int64_t from = 0, to = 0;
  state.cells(slice).forEach(
      slice.begin, slice.end, [&](int64_t begin, int64_t end, Copies &copies) {
        Named name = state.nameOf(slice.bucket, begin, end);
        const Param *param = state.paramAt(slice.bucket, begin);
        for (Cell Copies::*copy : {&Copies::own, &Copies::others}) {
          if (copy == &Copies::others && slice.ownShard)
            continue;
          std::string problem = visit({name, param, copy, copies.*copy});
          if (problem.empty() || !why.empty())
            continue;
          why = problem;
          from = begin;
          to = end;
        }
      });
  if (!why.empty())
    report.error(touch.op) << "expected " << expected << ", found elements "
                           << from << " to " << to << " of " << nameOf(slice)
                           << " to be " << why;
}

void UpdateInterpreter::normStep(const Touch &touch, StringRef step, Norm from,
                                 Norm to) {
  if (norm != from)
    report.error(touch.op) << "expected the norm in the order "
                           << (isResetForNext ? "" : "reset, ")
                           << "accumulate and check, norm_reduce, finish"
                           << (isResetForNext ? ", reset" : "") << ", found "
                           << step << " at another time";
  norm = to;
}

/// Ranks that have the same of the part of a range that lies in a parameter
/// must count a part each, so that each of its elements counts once.
void UpdateInterpreter::checkCountedOnce(const Touch &touch, const Slice &slice,
                                         const Param &param, const Sum *by) {
  std::vector<MtcGroup> same = param.of.groupsWithSame();
  for (const GroupInfo &group : kGroups) {
    bool inShards = slice.ownShard && group.id == MTC_GROUP_DP;
    bool haveSame = llvm::is_contained(same, group.id);
    bool expected = haveSame && model.mesh.groupSize(group.id) > 1 && !inShards;
    bool found = slice.range && slice.range.isAmong(group.id),
         made = by && by->among == group.id;
    if (found && made)
      report.error(touch.op) << "expected the norm to count of \""
                             << param.name() << "\" what each " << group.name
                             << " rank makes, found it to count parts of that";
    if (expected == (found || made))
      continue;
    report.error(touch.op) << "expected the norm to count \"" << param.name()
                           << "\" " << (expected ? "among " : "on every ")
                           << group.name << (expected ? " ranks (" : " rank (")
                           << (expected   ? "all have the same"
                               : haveSame ? "each counts its part"
                                          : "each has a part")
                           << "), found it "
                           << (found || made ? "among them" : "on every one");
  }
}

void UpdateInterpreter::count(const Touch &touch, rt::NormOp op) {
  if (touch.accesses.empty())
    return;
  std::optional<Slice> slice =
      slices.measured(touch, touch.accesses[0], op.getLength());
  if (!slice)
    return;
  if (op.getContinues())
    checkContinued(touch, op, *slice);
  count(touch, *slice, op.getContinues() ? &lastSum : nullptr);
}

/// It is counted while the sum is made.
void UpdateInterpreter::checkContinued(const Touch &touch, rt::NormOp op,
                                       const Slice &slice) {
  const Slice &made = lastSum.slice;
  auto collective = dyn_cast_or_null<rt::CollectiveOp>(lastSum.op);
  auto launch = dyn_cast_or_null<rt::LaunchOp>(lastSum.op);
  bool fits = lastSum.op && lastSum.op == op.sumBefore() &&
              slice.bucket == made.bucket && slice.begin >= made.begin &&
              slice.end <= made.end &&
              getElementTypeOrSelf(op.getRange().getType()).isF32() &&
              (!collective || collective.getStream() == 0) &&
              (!launch || launch.getInits().size() == 1) &&
              model.config.getTarget().getDevice() == "cpu";
  if (!fits)
    report.error(touch.op) << "expected in front of what continues it, on the "
                              "stream of a cpu's fragments, a sum in f32 of "
                              "all that it counts, found another op";
}

void UpdateInterpreter::countProduct(const Touch &touch) {
  normStep(touch, "a product that counts", Norm::Summing, Norm::Summing);
  for (const Access &access : touch.accesses)
    if (stage.isAccumulator(access))
      if (std::optional<Slice> slice = slices.counted(
              touch, access, cast<ShapedType>(access.type).getNumElements()))
        count(touch, *slice);
}

void UpdateInterpreter::count(const Touch &touch, const Slice &slice,
                              const Sum *by) {
  if (slice.part != Part::Grad) {
    report.error(touch.op)
        << "expected the norm of gradients, found other bytes";
    return;
  }
  std::map<int64_t, const Param *> counted;
  change(touch, slice, "whole gradients of owned parameters in the norm, once",
         [&](const Element &element) -> std::string {
           const Param *param = element.param;
           if (!param)
             return "padding";
           counted[param->start()] = param;
           if (!param->isOwner())
             return "a copy, which another stage counts";
           if (element.cell.counted)
             return "in it already";
           element.cell.counted = true;
           return state.describeIncomplete(element.cell, param);
         });
  for (auto &[start, param] : counted)
    checkCountedOnce(touch, slice, *param, by);
}

void UpdateInterpreter::checkLoss(const Touch &touch) {
  if (touch.accesses.empty())
    return;
  std::optional<Slice> slice = slices.counted(touch, touch.accesses[0], 1);
  if (!slice)
    return;
  change(touch, *slice, "the whole loss to be checked in the norm",
         [&](const Element &element) -> std::string {
           if (slice->part != Part::Loss)
             return "no loss";
           element.cell.counted = true;
           bool whole = state.partialOver(element.cell).empty();
           return whole ? "" : describe(state, element.cell);
         });
}

void UpdateInterpreter::clear(const Touch &touch) {
  if (touch.accesses.empty())
    return;
  int64_t elements = cast<ShapedType>(touch.accesses[0].type).getNumElements();
  std::optional<Slice> slice =
      slices.counted(touch, touch.accesses[0], elements);
  if (!slice)
    return;
  change(touch, *slice, "only gradients to be cleared",
         [&](const Element &element) -> std::string {
           if (slice->part != Part::Grad)
             return describe(state, element.cell);
           element.cell = Cell();
           element.cell.kind = Cell::Kind::Zero;
           return "";
         });
}

} // namespace mtc::passes::verify
