//===- Epilogues.cpp - clusters that products do before they round --------===//
#include "passes/plan/Epilogues.h"

#include "dialects/rt/Rt.h"
#include "passes/families/epilogue.h"
#include "passes/plan/Calls.h"
#include "passes/plan/Empty.h"
#include "passes/plan/Gemm.h"
#include "passes/target/target.h"

using namespace mlir;

namespace mtc::passes {
namespace {

/// What a cluster does with the sums of one product. `sum` is what GELU reads:
/// the product, or that with bias.
struct Epilogue {
  tfm::EinsumOp product;
  GemmForm form;
  Value bias, sum, gelu;
  bool hasAux = false; ///< others read the sum, too

  Value result() const { return gelu ? gelu : sum; }
};

/// Finds the one product that a cluster continues.
class Matcher {
public:
  Matcher(rt::ClusterOp cluster, TargetAttr target)
      : cluster(cluster), target(target) {}

  std::optional<Epilogue> match() {
    for (Operation &op : cluster.ops())
      if (!isa<tfm::BroadcastOp>(op) && !takeBias(&op) && !takeGelu(&op))
        return std::nullopt;
    if (!found.product || !isWhole() || !isOfProduct() || !fits())
      return std::nullopt;
    return found;
  }

private:
  bool takeBias(Operation *op) {
    std::optional<families::ColumnBias> bias = families::columnBias(op);
    if (!bias || found.product || !target.hasEpilogue(mtc::Epilogue::Bias))
      return false;
    found.product = bias->product;
    found.bias = bias->bias;
    found.sum = op->getResult(0);
    return true;
  }

  bool takeGelu(Operation *op) {
    if (!families::isGelu(op) || found.gelu ||
        !target.hasEpilogue(mtc::Epilogue::Gelu))
      return false;
    Value read = op->getOperand(0);
    if (!found.product) {
      found.product = read.getDefiningOp<tfm::EinsumOp>();
      found.sum = read;
      if (!found.product) // a bias that follows is another value's
        return false;
    }
    found.gelu = op->getResult(0);
    return found.sum == read;
  }

  /// Whether nothing of the cluster but the epilogue's values is read.
  bool isWhole() {
    size_t ops = (found.bias ? 2 : 0) + (found.gelu ? 1 : 0);
    return llvm::range_size(cluster.ops()) == ops &&
           llvm::all_of(cluster.getYield().getValues(), [&](Value read) {
             return read == found.gelu || (found.bias && read == found.sum);
           });
  }

  /// Whether the product is the cluster's alone, and of its layer: another
  /// number of stages would part them.
  bool isOfProduct() {
    tfm::EinsumOp product = found.product;
    return product->getBlock() == cluster->getBlock() &&
           product->getAttr(tfm::layerAttr) ==
               found.result().getDefiningOp()->getAttr(tfm::layerAttr) &&
           (!found.bias || product.getResult().hasOneUse());
  }

  /// Whether anyone but the epilogue reads the sum.
  bool isSumRead() {
    if (!found.bias)
      return !found.sum.hasOneUse();
    return llvm::is_contained(cluster.getYield().getValues(), found.sum);
  }

  /// Whether the library has such a product.
  bool fits() {
    std::optional<GemmForm> form = gemmForm(found.product);
    if (!form)
      return false;
    found.form = *form;
    bool isOfColumns =
        !found.bias ||
        cast<ShapedType>(found.bias.getType()).getNumElements() == form->n;
    found.hasAux = found.gelu && isSumRead();
    return isOfColumns && !(found.hasAux && target::lacksAux(form->n));
  }

  rt::ClusterOp cluster;
  TargetAttr target;
  Epilogue found;
};

/// Where all that the product reads is there.
Operation *lastOf(Operation *product, Value bias) {
  Operation *made = bias ? bias.getDefiningOp() : nullptr;
  return made && product->isBeforeInBlock(made) ? made : product;
}

void fuse(rt::ClusterOp cluster, Epilogue of) {
  tfm::EinsumOp product = of.product;
  OpBuilder b(cluster.getContext());
  b.setInsertionPointAfter(lastOf(product, of.bias));
  Location loc = b.getFusedLoc({product.getLoc(), cluster.getLoc()});
  Type type = product.getResult().getType();
  Value lhs = product.getLhs(), rhs = product.getRhs();
  if (of.form.swapped)
    std::swap(lhs, rhs);
  SmallVector<Type> made(of.hasAux ? 2 : 1, type);
  Value into = emptyOf(b, loc, type);
  Value aux = of.hasAux ? emptyOf(b, loc, type) : Value();
  auto gemm =
      rt::GemmOp::create(b, loc, made, lhs, rhs, of.bias, into, aux,
                         /*scratch=*/Value(), of.form.m, of.form.n, of.form.k,
                         of.form.ta, of.form.tb,
                         /*beta=*/false, /*stores_first=*/false,
                         /*counts_last=*/false, static_cast<bool>(of.gelu),
                         /*kernel=*/rt::GemmKernelAttr(), /*packs=*/BoolAttr());
  keepLayer(product, gemm);
  for (auto [read, result] :
       llvm::zip(cluster.getYield().getValues(), cluster.getResults()))
    result.replaceAllUsesWith(gemm.getOutputs()[read == of.result() ? 0 : 1]);
  cluster.erase();
  if (of.hasAux && !of.bias)
    product.getResult().replaceAllUsesWith(gemm.getOutputs()[1]);
  product.erase();
}

} // namespace

void fuseEpilogues(func::FuncOp fn, TargetAttr target) {
  if (!target.getEpilogues())
    return;
  for (auto cluster : llvm::to_vector(fn.getOps<rt::ClusterOp>()))
    if (std::optional<Epilogue> found = Matcher(cluster, target).match())
      fuse(cluster, *found);
}

} // namespace mtc::passes
