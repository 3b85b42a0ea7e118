//===- row_moves.cpp - which elements kernels beside collectives move -----===//
//
// A collective works on a buffer that has what belongs to each rank in the
// order of ranks: [ranks][elements of a rank's part]. Kernels bring parts there
// and away, and take a rank's part out of a whole tensor. Of which element of
// which tensor each element is follows from the shapes of part and whole, and
// from how the axis cuts.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"
#include "passes/verify/launch_forms.h"
#include "passes/verify/places.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getShape();
}

/// The dimension in which a whole tensor has `ranks` times the part's size;
/// none if the shapes differ in another way.
std::optional<size_t> cutDim(ArrayRef<int64_t> part, ArrayRef<int64_t> whole,
                             int64_t ranks) {
  std::optional<size_t> found;
  if (part.size() != whole.size())
    return found;
  for (size_t dim = 0; dim < part.size(); ++dim) {
    if (part[dim] == whole[dim])
      continue;
    if (found || saturatingMul(part[dim], ranks) != whole[dim])
      return std::nullopt;
    found = dim;
  }
  return found;
}

/// Whether parts that stand behind each other are the whole.
bool liesInOrder(ArrayRef<int64_t> part, ArrayRef<int64_t> whole, MtcAxis axis,
                 int64_t ranks) {
  std::optional<size_t> dim = cutDim(part, whole, ranks);
  return dim && product(part.take_front(*dim)) == 1 && !kAxes[axis].headAndTail;
}

/// A launch that writes elements of one tensor to another, and nothing else.
rt::GatherOp moved(rt::LaunchOp launch, rt::KernelOp kernel) {
  ArrayAttr infos = kernel.getOperandsInfo();
  if (launch.getOutputs().size() != 1 || infos.size() != 2 ||
      cast<rt::OperandAttr>(infos[0]).getMode() != rt::Mode::Table ||
      cast<rt::OperandAttr>(infos[1]).getMode() != rt::Mode::Full)
    return {};
  rt::GatherOp found;
  for (auto store : kernel.getBody().front().getOps<rt::StoreOp>())
    found = store.getValue().getDefiningOp<rt::GatherOp>();
  return found;
}

/// The collective of tensors that a value is the operand of.
rt::CollectiveOp collectiveOf(Value value, rt::CollectiveKind kind) {
  for (Operation *user : value.getUsers())
    if (auto op = dyn_cast<rt::CollectiveOp>(user))
      if (op.getKind() == kind)
        return op;
  return {};
}

class MoveChecker : LaunchForms {
public:
  MoveChecker(const Model &model, rt::LaunchOp launch, rt::KernelOp kernel,
              rt::GatherOp gather, Report &report)
      : LaunchForms(launch, kernel, model.mesh), model(model), gather(gather),
        places(model, forms), report(report), from(buffers[0]),
        to(launch.getOutputs()[0]) {}

  void check() {
    using rt::CollectiveKind;
    auto made = from.getDefiningOp<rt::CollectiveOp>();
    if (auto op = collectiveOf(to, CollectiveKind::AllGather))
      return checkPlaced(op);
    if (auto op = collectiveOf(to, CollectiveKind::ReduceScatter))
      return checkPacked(op);
    if (made && made.getKind() == CollectiveKind::ReduceScatter)
      return checkTaken(made);
    if (made && made.getKind() == CollectiveKind::AllGather &&
        checkGathered(made))
      return;
    checkSliced();
  }

private:
  /// The axis along which a collective's ranks differ; none if there are
  /// several, or if only some of it.
  std::optional<MtcAxis> axisOf(rt::CollectiveOp op) const {
    const GroupInfo &group = kGroups[op.getGroup()];
    return group.runs ? std::nullopt : group.sumAxis();
  }

  /// A rank writes its part where all_gather has its own.
  void checkPlaced(rt::CollectiveOp op) {
    std::optional<MtcAxis> axis = axisOf(op);
    if (!axis)
      return;
    demand("the element that the rank adds to what is gathered", [&] {
      return forms.sub(elementNumber(), forms.mul(forms.variable(*axis),
                                                  product(shapeOf(from))));
    });
  }

  /// A rank takes its part of what reduce_scatter leaves.
  void checkTaken(rt::CollectiveOp op) {
    std::optional<MtcAxis> axis = axisOf(op);
    if (!axis)
      return;
    demand("the element that the rank has of what was summed", [&] {
      return forms.add(elementNumber(),
                       forms.mul(forms.variable(*axis), product(shapeOf(to))));
    });
  }

  /// Of the whole each element comes from its owner; false if parts in the
  /// order of ranks are the whole, so that this moves something else.
  bool checkGathered(rt::CollectiveOp op) {
    std::optional<MtcAxis> axis = axisOf(op);
    auto placed = op.getInit() ? op.getInit().getDefiningOp<rt::LaunchOp>()
                               : rt::LaunchOp();
    if (!axis || !placed || placed.getInputs().size() != 1)
      return false;
    ArrayRef<int64_t> part = shapeOf(placed.getInputs()[0]);
    int64_t ranks = model.mesh[*axis];
    if (liesInOrder(part, shapeOf(from), *axis, ranks))
      return false;
    ArrayRef<int64_t> whole = shapeOf(to);
    std::optional<size_t> dim = cutDim(part, whole, ranks);
    demand("the gathered element", [&]() -> IndexForm {
      if (!dim)
        return {};
      SmallVector<IndexForm> at = indicesIn(whole, elementNumber());
      Places::Owned owned = places.ownerOf(at[*dim], part[*dim], *axis);
      at[*dim] = owned.index;
      return forms.add(forms.mul(owned.rank, product(part)),
                       numberIn(part, at));
    });
    return true;
  }

  /// In front of a reduce_scatter each rank's part stands by itself.
  void checkPacked(rt::CollectiveOp op) {
    std::optional<MtcAxis> axis = axisOf(op);
    rt::LaunchOp taken;
    if (Value summed = op.getResult())
      for (Operation *user : summed.getUsers())
        if (auto launch = dyn_cast<rt::LaunchOp>(user))
          taken = launch;
    if (!axis || !taken || taken.getOutputs().size() != 1)
      return;
    ArrayRef<int64_t> part = shapeOf(taken.getOutputs()[0]);
    int64_t ranks = model.mesh[*axis];
    if (liesInOrder(part, shapeOf(to), *axis, ranks))
      return checkSliced();
    ArrayRef<int64_t> whole = shapeOf(from);
    std::optional<size_t> dim = cutDim(part, whole, ranks);
    demand("the element to be summed", [&]() -> IndexForm {
      if (!dim)
        return {};
      IndexForm number = elementNumber();
      IndexForm rank = forms.div(number, product(part));
      SmallVector<IndexForm> at =
          indicesIn(part, forms.rem(number, product(part)));
      at[*dim] = places.inWhole(at[*dim], part[*dim], *axis, rank);
      return numberIn(whole, at);
    });
  }

  /// What is cut out of a tensor is the rank's part: of a whole sequence along
  /// cp or, such as of a table of positions, along tp, where both have as many
  /// ranks; along dp where ranks bring samples together.
  void checkSliced() {
    SmallVector<MtcAxis> axes;
    for (MtcAxis axis : {MTC_AXIS_CP, MTC_AXIS_TP, MTC_AXIS_DP})
      if (axis == MTC_AXIS_DP && !model.splits(axis))
        continue;
      else if (auto dim = cutDim(shapeOf(to), shapeOf(from), model.mesh[axis]))
        if (!kAxes[axis].headAndTail ||
            shapeOf(from)[*dim] == model.config.getBatch().getSequence())
          if (mayCut(axis, *dim))
            axes.push_back(axis);
    auto isPartAlong = [&](MtcAxis axis) {
      return reads([&] { return partAlong(axis); });
    };
    if (!axes.empty() && llvm::none_of(axes, isPartAlong))
      demand("the element of the rank's part",
             [&] { return partAlong(axes.front()); });
  }

  /// Activations are [samples, positions, ...]: of these dp cuts the first
  /// dimension, and no other axis does; positions are not of replicas.
  bool mayCut(MtcAxis axis, size_t dim) const {
    ArrayRef<int64_t> whole = shapeOf(from);
    BatchAttr batch = model.config.getBatch();
    int64_t samples = saturatingMul(batch.getMicro(), model.mesh[MTC_AXIS_DP]);
    bool isOfAll =
        whole.size() >= 3 && whole[0] == samples && model.splits(MTC_AXIS_DP);
    if (isOfAll && dim == 0)
      return axis == MTC_AXIS_DP;
    return axis != MTC_AXIS_DP || whole.size() < 3 || dim != 1;
  }

  IndexForm partAlong(MtcAxis axis) {
    ArrayRef<int64_t> part = shapeOf(to), whole = shapeOf(from);
    size_t dim = *cutDim(part, whole, model.mesh[axis]);
    SmallVector<IndexForm> at = indicesIn(part, elementNumber());
    at[dim] = places.inWhole(at[dim], part[dim], axis, forms.variable(axis));
    return numberIn(whole, at);
  }

  /// Whether the element that is read is `wanted`, which `should` has then.
  bool reads(function_ref<IndexForm()> wanted) {
    settle([&] {
      should = wanted();
      is = forms.add(forms.mul(indices().of(gather.getRow()), kernel.getCols()),
                     forms.variable(kColIndex));
    });
    return is && is == should;
  }

  void demand(StringRef what, function_ref<IndexForm()> wanted) {
    if (!reads(wanted))
      report.error(launch) << "expected " << what << " to be "
                           << forms.textOf(should)
                           << ", as the shapes of the part and the whole say, "
                              "found "
                           << forms.textOf(is);
  }

  const Model &model;
  rt::GatherOp gather;
  Places places;
  Report &report;
  Value from, to;
  IndexForm is, should;
};

} // namespace

void checkRowMoves(const Model &model, Report &report) {
  forEachLaunch(model, report,
                [&](rt::LaunchOp launch, rt::KernelOp kernel, Report &found) {
                  if (rt::GatherOp gather = moved(launch, kernel))
                    MoveChecker(model, launch, kernel, gather, found).check();
                });
}

} // namespace mtc::passes::verify
