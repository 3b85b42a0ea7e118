//===- CodegenKernels.cpp - rt.kernel to func + scf + vector --------------===//
#include "dialects/mtc/Mtc.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/codegen/kernel_function.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace mtc::passes {
#define GEN_PASS_DEF_CODEGENKERNELS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {
struct CodegenKernels
    : mtc::passes::PhasePass<passes::impl::CodegenKernelsBase<CodegenKernels>> {
  using PhasePass::PhasePass;

  int64_t threadsOfRank() {
    auto config = getOperation()->getAttrOfType<ConfigAttr>(configAttrName);
    return threads > 0 ? threads : config ? config.getTarget().getThreads() : 1;
  }

  void runPhase() override {
    if (vectorWidth < 2 || !llvm::isPowerOf2_64(vectorWidth)) {
      getOperation().emitError(
          "expected vector-width to be a power of two from 2 on, found ")
          << vectorWidth.getValue();
      return signalPassFailure();
    }
    // Code is made of bytes: what they mean has been verified.
    getOperation().walk([](rt::TensorFormOp form) { form.erase(); });
    SmallVector<rt::KernelOp> kernels;
    getOperation().walk(
        [&](rt::KernelOp kernel) { kernels.push_back(kernel); });
    for (rt::KernelOp kernel : kernels) {
      if (failed(codegen::buildCpuKernel(
              kernel, {vectorWidth, nativeBf16, threadsOfRank()})))
        signalPassFailure(); // and what is wrong with the others?
      kernel.erase();
    }
  }
};
} // namespace
