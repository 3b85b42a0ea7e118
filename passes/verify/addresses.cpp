//===- addresses.cpp - where in the whole a call of attention is ----------===//
//
// A call draws dropout by sample and head of the whole model, and its causal
// mask compares places of the whole sequence. They are numbers that code was
// given: nothing that the call reads or writes would show others.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class AddressChecker {
public:
  AddressChecker(const Mesh &mesh, Report &report)
      : mesh(mesh), report(report) {}

  void check(rt::AttentionOp op) {
    ArrayRef<int64_t> q = cast<ShapedType>(op.getQkv()[0].getType()).getShape();
    int64_t replicas = mesh[MTC_AXIS_DP];
    rt::Affine sample;
    sample[MTC_AXIS_DP] = q[0];
    sample[rt::kMicrobatch] = q[0] * replicas;
    sample[rt::kSample] = 1;
    expect(op, op.getSample(), sample, "the first sample");

    int64_t heads = op.getGlobalHeads();
    if (q[2] != heads && q[2] * mesh[MTC_AXIS_TP] != heads)
      report.error(op) << "expected all " << heads
                       << " heads or those of one of " << mesh[MTC_AXIS_TP]
                       << " tp ranks, found " << q[2];
    rt::Affine head;
    head[MTC_AXIS_TP] = q[2] == heads ? 0 : q[2];
    expect(op, op.getHead(), head, "the first head");
    if (!op.isFused())
      checkPositions(op, q[1]);
  }

private:
  /// Of parts of a sequence that ranks along cp have: of 2·cp pieces rank r has
  /// piece r and, behind it, piece 2·cp - 1 - r.
  void checkPositions(rt::AttentionOp op, int64_t queries) {
    int64_t keys = cast<ShapedType>(op.getQkv()[1].getType()).getDimSize(1);
    int64_t ranks = mesh[MTC_AXIS_CP];
    size_t given = op.getPositions().size();
    if (given != (queries == keys ? 0 : 2)) {
      report.error(op) << "expected " << (queries == keys ? 0 : 2)
                       << " positions of " << queries << " queries among "
                       << keys << " keys, found " << given;
      return;
    }
    if (given == 0)
      return;
    if (queries * ranks != keys || queries % 2 != 0) {
      report.error(op) << "expected two pieces of one of " << ranks
                       << " cp ranks among " << keys << " keys, found "
                       << queries << " queries";
      return;
    }
    int64_t piece = queries / 2;
    rt::Affine head, tail;
    head[MTC_AXIS_CP] = piece;
    tail[MTC_AXIS_CP] = -piece;
    tail.constant = (2 * ranks - 1) * piece;
    expect(op, op.getPositions()[0], head, "the first query of the head");
    expect(op, op.getPositions()[1], tail, "the first query of the tail");
  }

  /// Coordinates along an axis of one rank are zero.
  rt::Affine onThisMesh(rt::Affine form) const {
    for (const AxisInfo &axis : kAxes)
      if (mesh[axis.id] == 1)
        form[axis.id] = 0;
    return form;
  }

  void expect(rt::AttentionOp op, Value number, const rt::Affine &wanted,
              StringRef what) {
    auto affine = number.getDefiningOp<rt::AffineOp>();
    if (affine && onThisMesh(affine.getValue()) == onThisMesh(wanted))
      return;
    InFlightDiagnostic error = report.error(op);
    error << "expected " << what << " to be "
          << rt::AffineAttr::of(op.getContext(), onThisMesh(wanted))
          << ", found ";
    if (affine)
      error << affine.getValueAttr();
    else
      error << "a number that is no rt.affine";
  }

  const Mesh &mesh;
  Report &report;
};

} // namespace

void checkAddresses(const Model &model, Report &report) {
  AddressChecker checker(model.mesh, report);
  for (const Stage &stage : model.stages)
    for (const Fragment &fragment : stage.fragments)
      for (const Touch &touch : fragment.touches)
        if (auto attention = dyn_cast<rt::AttentionOp>(touch.op))
          checker.check(attention);
}

} // namespace mtc::passes::verify
