//===- LowerToLLVM.cpp - --lower-to-llvm ----------------------------------===//
//
// Establishes: the module of one program is in the LLVM dialect alone. Kernels
// go through upstream conversions, fragments through FragmentEmitter.
//
//===----------------------------------------------------------------------===//
#include "dialects/pipe/Pipe.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/codegen/emit.h"
#include "passes/codegen/fragment_emitter.h"

#include "mlir/Pass/PassManager.h"

namespace mtc::passes {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

struct LowerToLLVMPass
    : mtc::passes::PhasePass<
          mtc::passes::impl::LowerToLLVMBase<LowerToLLVMPass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
    OpPassManager pipeline(ModuleOp::getOperationName());
    codegen::addLowerToLlvmPasses(pipeline);
    pipeline.getDependentDialects(registry);
  }

  void runPhase() override {
    ModuleOp module = getOperation();
    // Fragments stand aside while the kernels are converted.
    SmallVector<OwningOpRef<func::FuncOp>> fragments;
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto fn = dyn_cast<func::FuncOp>(op);
      if (fn && pipe::FragmentAttr::of(fn)) {
        fn->remove();
        fragments.emplace_back(fn);
      } else if (op.getName().getDialectNamespace() == "rt") {
        op.erase(); // buckets, parameters, timelines: in the descriptor and
                    // tables
      }
    }
    OpPassManager pipeline(ModuleOp::getOperationName());
    codegen::addLowerToLlvmPasses(pipeline);
    if (failed(runPipeline(pipeline, module)))
      return signalPassFailure();
    // A kernel is called by fragments of this program only, though these may be
    // in another object, and stays a function of its own: its code is the same
    // wherever it is launched from.
    for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
      if (!kernel.isExternal()) {
        kernel.setVisibility_(LLVM::Visibility::Hidden);
        kernel.setNoInline(true);
      }
    target::GemmRows gemms;
    for (auto &fragment : fragments)
      gemms.add(*fragment);
    for (auto &fragment : fragments)
      if (failed(codegen::FragmentEmitter(module, *fragment, gemms).emit()))
        return signalPassFailure();
  }
};

} // namespace
