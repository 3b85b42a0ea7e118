//===- update_collectives.cpp - collectives of the update -----------------===//
#include "passes/verify/update_interpreter.h"

#include <fmt/format.h>

using namespace mlir;

namespace mtc::passes::verify {

void UpdateInterpreter::collective(const Touch &touch, rt::CollectiveOp op) {
  using Kind = rt::CollectiveKind;
  Kind kind = op.getKind();
  bool alongShards = op.getGroup() == MTC_GROUP_DP;
  if (kind == Kind::NormReduce && op.getGroup() == MTC_GROUP_ALL)
    return normStep(touch, "norm_reduce", Norm::Summing, Norm::Reduced);
  if (touch.accesses.size() == 1) {
    if (kind == Kind::AllReduce && kGroups[op.getGroup()].sumAxis())
      return sumOver(touch, op);
    if (kind == Kind::AllReduce && op.getGroup() == MTC_GROUP_EMBEDDING)
      return sumOverStages(touch, op);
    if (kind == Kind::ReduceScatter && alongShards)
      return sumOver(touch, op);
    if (kind == Kind::AllGather && alongShards)
      return gather(touch, op);
  }
  report.error(op) << "expected sums over "
                   << namesOf(kGroups,
                              [](const GroupInfo &group) {
                                return group.sumAxis().has_value();
                              })
                   << ", or over " << groupName(MTC_GROUP_EMBEDDING)
                   << ", scatters and gathers over dp, and the norm over "
                   << groupName(MTC_GROUP_ALL) << ", found "
                   << stringifyCollectiveKind(kind) << " over "
                   << groupName(op.getGroup());
}

/// Whether all sums that come earlier have been made, so that they add in one
/// order.
static bool isInTurn(const Cell &cell, MtcGroup group) {
  return llvm::none_of(kGroups, [&](const GroupInfo &other) {
    return cell.partial.test(other.id) && sumTurn(other.id) < sumTurn(group);
  });
}

/// What comes before the sum over a group, for messages.
static const char *earlierSums(MtcGroup group) {
  static constexpr const char *kBefore[] = {
      "", "behind those along dp and ", "behind those along data axes and "};
  return kBefore[sumTurn(group)];
}

void UpdateInterpreter::sumOver(const Touch &touch, rt::CollectiveOp op) {
  MtcGroup group = op.getGroup();
  bool isOfData = sumTurn(group) < 2;
  bool scatters = op.getKind() == rt::CollectiveKind::ReduceScatter;
  int64_t ranks = scatters ? model.mesh.groupSize(group) : 1;
  std::optional<Slice> slice = slices.counted(
      touch, touch.accesses[0], saturatingMul(op.getCount(), ranks));
  if (!slice)
    return;
  rt::BucketOp bucket = stage.bucket(slice->bucket);
  bool isShard = bucket && stage.isSharded(slice->bucket) &&
                 slice->begin == 0 &&
                 op.getCount() == static_cast<int64_t>(bucket.getShard());
  if (scatters && !isShard) {
    report.error(op) << "expected each rank along dp to have its shard of a "
                        "bucket afterwards, found other parts";
    return;
  }
  change(touch, *slice,
         fmt::format("sums of one use over the other ranks along {} only, "
                     "{}before anything reads them",
                     groupName(group), earlierSums(group)),
         [&](const Element &element) -> std::string {
           Cell &cell = element.cell;
           if (cell.is(Cell::Kind::Zero))
             return "";
           // Padding is zero on every rank, and so is a sum of it.
           if (!element.param && !isOfData && slice->part == Part::Grad)
             return "";
           // One use: ranks are added first, so that sums add in one order,
           // whichever stages have the uses.
           bool fits = cell.is(Cell::Kind::Gradient) &&
                       cell.partial.test(group) && isInTurn(cell, group) &&
                       cell.uses.size() == 1 && !cell.stages && !cell.counted &&
                       !(slice->ownShard && group == MTC_GROUP_DP);
           cell.partial.set(group, false);
           return fits ? "" : describe(state, cell);
         });
  if (scatters)
    state.cells(*slice).forEach(
        slice->begin, slice->end,
        [](int64_t, int64_t, Copies &copies) { copies.others = Cell(); });
  if (slice->part == Part::Grad)
    lastSum = {op, *slice, scatters ? std::nullopt : std::optional(group)};
}

/// Elements that follow each other are one part, however they became so.
static void append(std::vector<Named> &names, const Named &next) {
  bool follows = !names.empty() && names.back().parameter == next.parameter &&
                 (next.parameter.empty() ||
                  names.back().begin + names.back().count == next.begin);
  if (follows)
    names.back().count += next.count;
  else
    names.push_back(next);
}

void UpdateInterpreter::sumOverStages(const Touch &touch, rt::CollectiveOp op) {
  std::optional<Slice> slice =
      slices.counted(touch, touch.accesses[0], op.getCount());
  if (!slice)
    return;
  change(touch, *slice,
         "whole sums of a parameter that both ends of the pipeline share, once",
         [&](const Element &element) -> std::string {
           Cell &cell = element.cell;
           if (slice->part != Part::Grad)
             return "no gradient";
           bool again = cell.stages || cell.counted;
           cell.stages = true;
           if (again)
             return "summed or in the norm before";
           if (!element.param) // padding
             return cell.is(Cell::Kind::Gradient) &&
                            state.partialOver(cell).empty()
                        ? ""
                        : describe(state, cell);
           if (!state.isShared(*element.param))
             return fmt::format("of \"{}\", which no other stage has",
                                element.param->name().str());
           return state.describeIncomplete(cell, element.param,
                                           /*across=*/false);
         });
  std::vector<Named> names;
  state.cells(*slice).forEach(
      slice->begin, slice->end, [&](int64_t begin, int64_t end, Copies &) {
        append(names, state.nameOf(slice->bucket, begin, end));
      });
  state.betweenStages.push_back({op, std::move(names)});
}

void UpdateInterpreter::gather(const Touch &touch, rt::CollectiveOp op) {
  std::optional<Slice> slice = slices.gathered(touch, op);
  if (!slice)
    return;
  state.cells(*slice).forEach(
      slice->begin, slice->end,
      [](int64_t, int64_t, Copies &copies) { copies.others = copies.own; });
}

} // namespace mtc::passes::verify
