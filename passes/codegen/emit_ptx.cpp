//===- emit_ptx.cpp - PTX text of kernels ---------------------------------===//
#include "passes/codegen/emit.h"
#include "passes/codegen/gpu_support.h"
#include "passes/codegen/kernel_function.h"
#include "passes/codegen/llvm_backend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static void declareSupport(ImplicitLocOpBuilder &b) {
  Type i64 = b.getI64Type(), f32 = b.getF32Type();
  auto declare = [&](StringRef name, TypeRange in, Type out) {
    func::FuncOp::create(b, name, b.getFunctionType(in, out)).setPrivate();
  };
  for (StringRef name : {kGpuThread, kGpuThreads, kGpuBlock, kGpuBlocks})
    declare(name, {}, i64);
  for (StringRef name : {kGpuSum, kGpuMax})
    declare(name, f32, f32);
}

/// A module with a function for every kernel of `source`.
static FailureOr<OwningOpRef<ModuleOp>> buildModule(Operation *source) {
  MLIRContext *context = source->getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect,
                       math::MathDialect, memref::MemRefDialect,
                       scf::SCFDialect, vector::VectorDialect>();
  ImplicitLocOpBuilder b(source->getLoc(), context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  declareSupport(b);
  SmallVector<rt::KernelOp> kernels;
  source->walk([&](rt::KernelOp kernel) { kernels.push_back(kernel); });
  for (rt::KernelOp kernel : kernels) {
    auto copy = cast<rt::KernelOp>(b.clone(*kernel));
    if (failed(buildGpuKernel(copy)))
      return failure();
    copy.erase();
  }
  return module;
}

static llvm::Error linkSupport(llvm::Module &module) {
  llvm::SMDiagnostic diagnostic;
  auto support = llvm::parseAssemblyString(gpuSupportIr(), diagnostic,
                                           module.getContext());
  if (!support)
    return error("the GPU support functions do not parse: " +
                 diagnostic.getMessage());
  support->setTargetTriple(module.getTargetTriple());
  support->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(support)))
    return error("the GPU support functions do not link");
  return llvm::Error::success();
}

llvm::Expected<std::string> codegen::emitPtx(Operation *source,
                                             llvm::StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  auto module = buildModule(source);
  if (failed(module) || failed(lowerToLlvm(**module)))
    return error(
        "the kernels cannot be lowered for a GPU; see the diagnostics");
  registerTranslations(*source->getContext());
  llvm::LLVMContext context;
  auto ir = translateModuleToLLVMIR(**module, context, "mtc");
  if (!ir)
    return error("the kernels do not translate to LLVM IR");
  for (llvm::Function &f : *ir)
    if (!f.isDeclaration())
      f.setCallingConv(llvm::CallingConv::PTX_Kernel);
  if (llvm::Error failed = linkSupport(*ir))
    return failed;
  for (llvm::Function &f : *ir)
    if (f.hasLinkOnceODRLinkage())
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
  auto text = runBackend(*ir, {"nvptx64-nvidia-cuda", chip.str(), "+ptx80"}, 2,
                         OutputKind::Assembly);
  if (text && llvm::StringRef(*text).contains(".extern .func"))
    return error("the PTX calls a function that it does not define");
  return text;
}
