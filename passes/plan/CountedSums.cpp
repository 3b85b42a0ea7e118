//===- CountedSums.cpp - sums that count what they make -------------------===//
#include "passes/plan/CountedSums.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace mtc::passes {

std::optional<GradientRange> GradientRange::of(Value view) {
  GradientRange found;
  found.view = view.getDefiningOp<rt::OffsetViewOp>();
  if (found.view)
    found.range = found.view.getElements().getDefiningOp<rt::FlatRangeOp>();
  found.buffer =
      (found.view ? found.view.getView() : view).getDefiningOp<rt::RefOp>();
  bool isKnown = found.buffer && found.buffer.getBucket() &&
                 !found.buffer.getStart() &&
                 found.buffer.getKind() == rt::RefKind::Grad &&
                 (!found.view || (found.range && found.isMoved()));
  return isKnown ? std::optional(found) : std::nullopt;
}

std::optional<GradientRange> GradientRange::of(rt::NormOp norm) {
  if (norm.getAction() != rt::NormAction::Accumulate)
    return std::nullopt;
  auto found = of(norm.getRange());
  bool isWhole =
      found && found->range && found->range.getLength() == norm.getLength();
  return isWhole ? found : std::nullopt;
}

rt::NormOp addCount(OpBuilder &b, Location loc, GradientRange like,
                    int64_t start, int64_t count, rt::GroupsAttr among) {
  auto range = rt::FlatRangeOp::create(b, loc, b.getI64IntegerAttr(start),
                                       b.getI64IntegerAttr(count),
                                       like.range.getShardAttr(), among);
  bool isLocal = like.view.getElements() == like.range.getLocal();
  Value view =
      rt::OffsetViewOp::create(b, loc, like.view.getType(), like.buffer,
                               isLocal ? range.getLocal() : range.getAt());
  return rt::NormOp::create(b, loc, rt::NormAction::Accumulate, view,
                            range.getLength());
}

void removeCount(rt::NormOp norm) {
  auto of = *GradientRange::of(norm);
  norm.erase();
  for (Operation *address : {of.view.getOperation(), of.range.getOperation(),
                             of.buffer.getOperation()})
    if (isOpTriviallyDead(address))
      address->erase();
}

namespace {

bool isF32(GradientRange of) {
  return cast<MemRefType>(of.buffer.getType()).getElementType().isF32();
}

/// Whether a rank has in the one what it has in the other.
bool contains(GradientRange whole, rt::FlatRangeOp part) {
  rt::FlatRangeOp range = whole.range;
  return !range || (range.getShard() == part.getShard() &&
                    range.getStart() <= part.getStart() &&
                    part.getStart() + part.getCount() <=
                        range.getStart() + range.getCount());
}

/// The last op in front of the step of the norm that writes to its bucket, and
/// what it writes there.
std::pair<Operation *, std::optional<GradientRange>>
lastWriter(rt::NormOp norm, GradientRange of) {
  for (Operation *op = norm->getPrevNode(); op; op = op->getPrevNode())
    if (auto writer = dyn_cast<DestinationStyleOpInterface>(op))
      for (Value init : writer.getDpsInits())
        if (auto written = GradientRange::of(init);
            written && written->buffer.getBucket() == of.buffer.getBucket())
          return {op, written};
  return {nullptr, std::nullopt};
}

/// A kernel over a flat range that writes one buffer.
bool isFlat(rt::LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<rt::KernelOp>(
      launch, launch.getKernelAttr());
  return kernel && !launch.getContinues() && launch.getInits().size() == 1 &&
         launch.getScalars().size() == 1 &&
         llvm::all_of(kernel.getOperandsInfo(), [](Attribute operand) {
           return cast<rt::OperandAttr>(operand).getMode() == rt::Mode::Full;
         });
}

/// Whether a step of the norm may continue the sum.
bool canContinue(Operation *sum, GradientRange written,
                 rt::FlatRangeOp counted) {
  if (!isF32(written) || !contains(written, counted))
    return false;
  if (auto launch = dyn_cast<rt::LaunchOp>(sum))
    return isFlat(launch);
  auto collective = dyn_cast<rt::CollectiveOp>(sum);
  if (!collective)
    return false;
  // Ranks of an all-reduce make parts of what all of them have.
  return collective.getKind() == rt::CollectiveKind::AllReduce
             ? counted.isAmong(collective.getGroup())
             : collective.getKind() == rt::CollectiveKind::ReduceScatter &&
                   counted.getShard();
}

/// Without the group of the sum, whose ranks make a part each.
rt::GroupsAttr othersAmong(rt::FlatRangeOp counted, Operation *sum) {
  auto collective = dyn_cast<rt::CollectiveOp>(sum);
  if (!collective || !counted.getAmong())
    return counted.getAmongAttr();
  auto groups = llvm::to_vector(counted.getAmong()->getGroups());
  llvm::erase(groups, collective.getGroup());
  return groups.empty() ? rt::GroupsAttr()
                        : rt::GroupsAttr::get(sum->getContext(), groups);
}

void continueSum(Operation *sum, rt::NormOp norm, GradientRange of) {
  auto others = rt::NormOp::continuing(sum);
  OpBuilder b(sum->getContext());
  b.setInsertionPointAfter(others.empty() ? sum : others.back());
  auto buffer = cast<rt::RefOp>(b.clone(*of.buffer));
  GradientRange like = of;
  like.buffer = buffer;
  addCount(b, norm.getLoc(), like, of.range.getStart(), of.range.getCount(),
           othersAmong(of.range, sum))
      .setContinues(true);
  removeCount(norm);
}

} // namespace

void continueSums(func::FuncOp reduce) {
  for (auto norm : llvm::make_early_inc_range(reduce.getOps<rt::NormOp>())) {
    std::optional<GradientRange> of = GradientRange::of(norm);
    if (!of || norm.getContinues())
      continue;
    auto [sum, written] = lastWriter(norm, *of);
    if (sum && canContinue(sum, *written, of->range))
      continueSum(sum, norm, *of);
  }
}

} // namespace mtc::passes
