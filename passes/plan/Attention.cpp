//===- Attention.cpp - attention as a call --------------------------------===//
#include "dialects/tfm/Tfm.h"
#include "passes/families/kernel_body.h"
#include "passes/plan/Calls.h"
#include "passes/plan/Empty.h"

using namespace mlir;

namespace mtc::passes {
namespace {

/// The first head of this rank: the number of its heads times its coordinate
/// on the axis that splits them.
rt::Affine firstHead(Operation *op, Value out) {
  rt::Affine head;
  if (auto axis = op->getAttrOfType<StringAttr>(families::indexAxisAttr))
    head[*splittingAxis(axis.getValue())] =
        cast<ShapedType>(out.getType()).getDimSize(2);
  return head;
}

/// The runtime makes the sample's id out of coordinates: the operand goes.
template <typename Op> class AttentionToCall : public CallPattern<Op> {
public:
  using CallPattern<Op>::CallPattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    auto value = [&](const rt::Affine &a) {
      return rt::AffineOp::create(b, op.getLoc(), b.getI64Type(), a);
    };
    Value head = value(firstHead(op, op.getOut()));
    Value sample = value(this->around.sampleBase);
    bool backward = std::is_same_v<Op, tfm::AttentionGradOp>;
    SmallVector<Value> inits;
    for (Type type : op->getResultTypes())
      inits.push_back(emptyOf(b, op.getLoc(), type));
    auto made = rt::AttentionOp::create(
        b, op.getLoc(), op->getResultTypes(), op->getOperands().drop_back(),
        inits, Value(), sample, head, b.getBoolAttr(backward),
        op.getCausalAttr(), op.getScaleAttr(), op.getRateAttr(),
        op.getRngLayerAttr(), op.getSiteAttr(), op.getGlobalHeadsAttr());
    keepLayer(op, made);
    b.replaceOp(op, made.getOutputs());
    return success();
  }
};

} // namespace

void populateAttentionPatterns(RewritePatternSet &patterns,
                               const FragmentContext &around) {
  patterns.add<AttentionToCall<tfm::AttentionOp>,
               AttentionToCall<tfm::AttentionGradOp>>(patterns.getContext(),
                                                      around);
}

} // namespace mtc::passes
