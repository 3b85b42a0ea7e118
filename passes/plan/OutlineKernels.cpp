//===- OutlineKernels.cpp - --outline-kernels -----------------------------===//
//
// Establishes: fragments hold an rt.launch where an rt.cluster was, or the
// product that it is the epilogue of, and every sink has its accumulator.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/plan/Epilogues.h"
#include "passes/plan/KernelWriter.h"
#include "passes/plan/ProgramPhase.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mtc::passes {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// The loop nest of a cluster. People may have edited it: what does not fit is
/// rejected here.
FailureOr<Cluster> nestOf(rt::ClusterOp op, func::FuncOp fn,
                          const ParamTable &params) {
  Cluster cluster(params);
  for (Operation &inside : op.ops())
    if (std::optional<Misfit> misfit = cluster.add(&inside))
      return inside.emitOpError("in a cluster of @")
             << fn.getName() << ": " << describe(*misfit, &inside);
  return cluster;
}

LogicalResult outlineKernels(func::FuncOp fn, const FragmentContext &around) {
  for (auto op : llvm::to_vector(fn.getOps<rt::ClusterOp>())) {
    FailureOr<Cluster> cluster = nestOf(op, fn, around.params);
    if (failed(cluster) || failed(writeKernel(op, *cluster, around)))
      return failure();
  }
  return success();
}

struct OutlineKernelsPass
    : ConfiguredPhase<FamilyPass<
          mtc::passes::impl::OutlineKernelsBase<OutlineKernelsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConfiguredPhase::getDependentDialects(registry);
    registry.insert<rt::RtDialect, arith::ArithDialect, math::MathDialect,
                    tensor::TensorDialect>();
  }
  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    return lowerFragments(program,
                          [&](func::FuncOp fn, const FragmentContext &around) {
                            fuseEpilogues(fn, config.getTarget());
                            return outlineKernels(fn, around);
                          });
  }
};

} // namespace
