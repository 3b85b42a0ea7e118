//===- gpu_lower.cpp - GPU kernels to the LLVM and NVVM dialects ----------===//
//
// Upstream's convert-gpu-to-nvvm takes roots and absolute values for calls of
// CUDA's device library, which this compiler does without: NVPTX has an
// instruction for each, and the numerics contract asks for it. So its patterns
// run here without that rule.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/gpu_lower.h"

#include "passes/codegen/emit.h"
#include "passes/codegen/loops.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mtc;

namespace {

struct GpuToNvvm : PassWrapper<GpuToNvvm, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GpuToNvvm)

  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.useBarePtrCallConv = true;
    LLVMTypeConverter types(&getContext(), options);
    configureGpuToNVVMTypeConverter(types);
    RewritePatternSet patterns(&getContext());
    populateGpuToNVVMConversionPatterns(types, patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    getOperation().walk(requireBlockSize);
    codegen::annotateLoops(getOperation());
  }

  /// Upstream makes a bound (.maxntid) of the known size of a block. Kernels
  /// are right for that size only.
  static void requireBlockSize(LLVM::LLVMFuncOp function) {
    if (Attribute size =
            function->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName()))
      function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), size);
  }
};

} // namespace

void codegen::loadGpuDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerNVVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context
      .loadDialect<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                   LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                   NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  registerTranslations(context);
  // What passes ask for themselves they could not load on several threads.
  OwningOpRef<ModuleOp> nothing = ModuleOp::create(UnknownLoc::get(&context));
  (void)lowerGpu(*nothing);
}

LogicalResult codegen::lowerGpu(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  OpPassManager &gpu = passes.nest<gpu::GPUModuleOp>();
  gpu.addPass(createSCFToControlFlowPass());
  gpu.addPass(createConvertVectorToLLVMPass());
  gpu.addPass(createConvertMathToLLVMPass());
  gpu.addPass(std::make_unique<GpuToNvvm>());
  gpu.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}
