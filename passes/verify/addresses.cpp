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
  AddressChecker(const Model &model, Report &report)
      : mesh(model.mesh), samples(model.config.getBatch().getMicro()),
        report(report) {}

  void check(rt::AttentionOp op) {
    ArrayRef<int64_t> q = cast<ShapedType>(op.getQkv()[0].getType()).getShape();
    checkSamples(op, q[0]);
    // Of a fused operand the queries that share a key, which stands behind
    // them with its value.
    int64_t heads = op.isFused() ? q[2] * (q[3] - 2) : q[2];
    checkHeads(op, heads, /*hasOwnSamples=*/q[0] == samples);
    if (!op.isFused())
      checkPositions(op, q[1]);
  }

private:
  /// A rank has its own samples of a microbatch, or all.
  void checkSamples(rt::AttentionOp op, int64_t found) {
    int64_t all = saturatingMul(samples, mesh[MTC_AXIS_DP]);
    if (found != samples && found != all)
      report.error(op) << "expected the " << samples
                       << " samples of a rank or all " << all
                       << " of a microbatch, found " << found;
    rt::Affine sample;
    sample[MTC_AXIS_DP] = found == samples ? samples : 0;
    sample[rt::kMicrobatch] = all;
    sample[rt::kSample] = 1;
    expect(op, op.getSample(), sample, "the first sample");
  }

  /// A rank has all heads or those of one along tp; replicas that have all
  /// samples may have heads of their own.
  void checkHeads(rt::AttentionOp op, int64_t found, bool hasOwnSamples) {
    int64_t heads = op.getGlobalHeads();
    auto isAlong = [&](MtcAxis axis) {
      return found != heads && saturatingMul(found, mesh[axis]) == heads;
    };
    rt::Affine head;
    bool isOfReplica =
        !hasOwnSamples && isAlong(MTC_AXIS_DP) &&
        (!isAlong(MTC_AXIS_TP) || isAt(op.getHead(), MTC_AXIS_DP));
    head[isOfReplica ? MTC_AXIS_DP : MTC_AXIS_TP] = found == heads ? 0 : found;
    expect(op, op.getHead(), head, "the first head");
  }

  static bool isAt(Value number, MtcAxis axis) {
    auto affine = number.getDefiningOp<rt::AffineOp>();
    return affine && affine.getValue()[axis] != 0;
  }

  /// Of parts of a sequence that ranks along cp have: of 2·cp pieces rank r has
  /// piece r and, behind it, piece 2·cp - 1 - r.
  void checkPositions(rt::AttentionOp op, int64_t queries) {
    int64_t keys = cast<ShapedType>(op.getQkv()[1].getType()).getDimSize(1);
    int64_t ranks = mesh[MTC_AXIS_CP];
    if (queries == keys)
      return;
    int64_t piece = keys / (2 * ranks); // its verifier has counted them
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
      error << number.getType();
  }

  const Mesh &mesh;
  const int64_t samples; ///< of a rank in a microbatch
  Report &report;
};

} // namespace

void checkAddresses(const Model &model, Report &report) {
  AddressChecker checker(model, report);
  for (const Stage &stage : model.stages)
    for (const Fragment &fragment : stage.fragments)
      for (const Touch &touch : fragment.touches)
        if (auto attention = dyn_cast<rt::AttentionOp>(touch.op))
          checker.check(attention);
}

} // namespace mtc::passes::verify
