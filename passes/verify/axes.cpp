//===- axes.cpp - axes that a plan names ----------------------------------===//
//
// What reads an axis of a plan looks for those of mesh.h. One that it does not
// have would silently be nothing: each name is checked here.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

void checkSplit(Operation *op, const dist::Split &split, Report &report) {
  if (split.axis && !splittingAxis(split.axis.getValue()))
    report.error(op) << "expected a split over " << splittingAxes()
                     << ", found one over " << split.axis;
}

/// Replicas of the data have different samples, which a dump puts in order by
/// itself: no dimension of an export is split over them.
void checkExport(rt::ExportSlotOp op, Report &report) {
  dist::Split split = op.split();
  checkSplit(op, split, report);
  std::optional<MtcAxis> axis =
      split.axis ? axisNamed(split.axis.getValue()) : std::nullopt;
  if (axis && kAxes[*axis].data)
    report.error(op) << "expected an export that is not split over the data "
                        "axis "
                     << split.axis << ", found dimension " << split.dim
                     << " split";
}

} // namespace

void checkAxes(const Model &model, Report &report) {
  for (auto &[name, param] : model.parameters)
    checkSplit(param, pipe::ParameterOp(param).split(), report);
  for (const Stage &stage : model.stages)
    for (auto op : stage.op.getOps<rt::ExportSlotOp>())
      checkExport(op, report);
}

} // namespace mtc::passes::verify
