//===- Cluster.cpp - which ops run in one loop nest -----------------------===//
#include "passes/plan/Cluster.h"

#include "dialects/tfm/Tfm.h"
#include "passes/plan/Sinks.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

namespace mtc::passes {

ShardingRule ruleOf(Operation *op) {
  if (!isSink(op))
    return cast<FamilyOpInterface>(op).getShardingRule();
  std::string all =
      factors(cast<ShapedType>(op->getOperand(0).getType()).getRank());
  return {.operands = {all}, .results = {all}};
}

bool Cluster::contains(Operation *op) const {
  return llvm::any_of(members, [&](const Member &m) { return m.op == op; });
}

/// While the domain has no dimensions its values are scalars, made once. When
/// it grows, they are made again in each row, so nobody else may see them.
bool Cluster::mayGrow(Operation *op) const {
  return llvm::none_of(members, [&](const Member &inside) {
    return isSink(inside.op) ||
           llvm::any_of(inside.op->getUsers(), [&](Operation *user) {
             return user != op && !contains(user);
           });
  });
}

/// Rows are added one after another, and rounding grows with their number. A
/// sum of all of them to one value is a sum along a row when it stands alone,
/// with ops that leave it one.
static bool sumsAll(const Placement &p) {
  return !p.contracted.empty() && p.results.front().empty();
}

std::optional<Misfit> Cluster::place(Operation *op, Member &member) {
  if (!isSink(op) && !isa<KernelBodyOpInterface>(op))
    return Misfit::NoBody;
  if (!members.empty() && tfm::layerOf(op) != tfm::layerOf(members.front().op))
    return Misfit::OtherLayer;
  if (llvm::any_of(op->getOperands(),
                   [&](Value v) { return summed.lookup(v); }))
    return Misfit::ReadsSum;
  Domain grown = domain;
  if (!grown.place(op, ruleOf(op), known, member.placement))
    return Misfit::OtherDims;
  if (domain.dims.empty() && !grown.dims.empty() && !mayGrow(op))
    return Misfit::Repeated;
  if (grown.rows() > 1 && !members.empty() &&
      (sumsAll(member.placement) || llvm::any_of(members, [](const Member &m) {
         return !m.isInPlace && sumsAll(m.placement);
       })))
    return Misfit::SumOfAll;
  domain = grown;
  return std::nullopt;
}

/// Whether the sum over rows that makes the operand of a sink may add each row
/// to the accumulator: in a narrower one it would be rounded with each.
bool Cluster::isSummedInPlace(Operation *sink) const {
  Value sum = sink->getOperand(0);
  return soleSink(sum) && summed.lookup(sum) &&
         accumulatorType(sink, *params).isF32();
}

Operation *Cluster::sinkOf(Value sum) const {
  auto isItsSink = [&](const Member &m) {
    return m.isInPlace && m.op->getOperand(0) == sum;
  };
  auto found = llvm::find_if(members, isItsSink);
  return found == members.end() ? nullptr : found->op;
}

std::optional<Misfit> Cluster::add(Operation *op) {
  Member member{op, {}};
  if (isSink(op) && isSummedInPlace(op)) {
    member.isInPlace = true;
    members.push_back(std::move(member));
    return std::nullopt;
  }
  if (std::optional<Misfit> misfit = place(op, member))
    return misfit;
  const Placement &placement = member.placement;
  for (auto [value, map] : llvm::zip(op->getOperands(), placement.operands))
    if (!isa_and_nonnull<tfm::FillOp>(value.getDefiningOp()))
      known.try_emplace(value, map);
  for (auto [value, map] : llvm::zip(op->getResults(), placement.results)) {
    known[value] = map;
    summed[value] = placement.accumulates;
  }
  members.push_back(std::move(member));
  return std::nullopt;
}

std::string describe(Misfit misfit, Operation *op) {
  switch (misfit) {
  case Misfit::NoBody:
    return "expected arithmetic on elements in a kernel, found none: " +
           cast<FamilyOpInterface>(op).getNoBody().str();
  case Misfit::OtherLayer:
    return "expected ops of one layer in a kernel (tfm.layer), so that it is "
           "the same however the layers are split, found layer " +
           std::to_string(tfm::layerOf(op));
  case Misfit::ReadsSum:
    return "expected values that are complete in each row of a kernel, found "
           "a sum over its rows; read it in another";
  case Misfit::OtherDims:
    return "expected dimensions that fit one loop nest over rows and columns, "
           "together with the ops before, found others";
  case Misfit::Repeated:
    return "expected no new dimensions in a kernel whose scalars are read "
           "elsewhere: each row would make them again";
  case Misfit::SumOfAll:
    return "expected a sum of all elements to be a kernel of its own, found "
           "it beside ops with rows";
  }
  return "";
}

} // namespace mtc::passes
