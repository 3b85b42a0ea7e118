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

void checkSplit(Operation *op, int64_t dim, StringRef axis, Report &report) {
  if (dim >= 0 && !splittingAxis(axis))
    report.error(op) << "expected a split over " << splittingAxes()
                     << ", found one over \"" << axis << "\"";
}

/// Replicas of the data have different samples, which a dump puts in order by
/// itself: no dimension of an export is split over them.
void checkExport(rt::ExportSlotOp op, Report &report) {
  checkSplit(op, op.getSplitDim(), op.getSplitAxis(), report);
  std::optional<MtcAxis> axis = axisNamed(op.getSplitAxis());
  if (op.getSplitDim() >= 0 && axis && kAxes[*axis].data)
    report.error(op) << "expected an export that is not split over the data "
                        "axis \""
                     << op.getSplitAxis() << "\", found split_dim "
                     << op.getSplitDim();
}

} // namespace

void checkAxes(const Model &model, Report &report) {
  for (const Stage &stage : model.stages) {
    for (rt::ParamOp param : stage.params)
      checkSplit(param, param.getSplitDim(), param.getSplitAxis(), report);
    for (auto op : stage.op.getOps<rt::ExportSlotOp>())
      checkExport(op, report);
  }
}

} // namespace mtc::passes::verify
