//===- emit_ptx.cpp - PTX text of kernels ---------------------------------===//
#include "passes/codegen/emit_ptx.h"

#include "dialects/rt/KernelStructure.h"
#include "passes/codegen/emit.h"
#include "passes/codegen/gpu_alignment.h"
#include "passes/codegen/gpu_kernel.h"
#include "passes/codegen/gpu_lower.h"
#include "passes/codegen/llvm_backend.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

static SmallVector<rt::KernelOp> kernelsOf(Operation *source) {
  SmallVector<rt::KernelOp> kernels;
  source->walk([&](rt::KernelOp kernel) { kernels.push_back(kernel); });
  return kernels;
}

/// Names that are made of a kernel's must not be another kernel's.
static LogicalResult checkNames(ArrayRef<rt::KernelOp> kernels) {
  llvm::StringSet<> names;
  for (rt::KernelOp kernel : kernels)
    names.insert(kernel.getSymName());
  for (rt::KernelOp kernel : kernels)
    for (StringRef part : {"_sum", "_owners", "_totals", "_shared",
                           "_sum_shared", "_owners_totals", "_owners_shared"})
      if (names.contains((kernel.getSymName() + part).str()))
        return kernel.emitOpError("expected no kernel ")
               << kernel.getSymName() << part
               << " beside it, a name that its own parts may have on a GPU";
  return success();
}

/// A module with a gpu.module that has the entries of every kernel of `source`.
static FailureOr<OwningOpRef<ModuleOp>>
buildModule(Operation *source, std::vector<GpuLaunch> &launches) {
  ImplicitLocOpBuilder b(source->getLoc(), source->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  auto kernels = gpu::GPUModuleOp::create(b, "kernels");
  b.setInsertionPointToEnd(kernels.getBody());
  auto alignments = alignmentsOf(source);
  SmallVector<rt::KernelOp> found = kernelsOf(source);
  if (failed(checkNames(found)))
    return failure();
  for (rt::KernelOp kernel : found) {
    auto copy = cast<rt::KernelOp>(b.clone(*kernel));
    auto [alignment, unknown] = alignments.try_emplace(
        kernel.getSymName().str(), kernel.getOperandsInfo().size(),
        kAllocationAlignment);
    auto launch = buildGpuKernel(copy, alignment->second);
    if (failed(launch))
      return failure();
    launches.push_back(std::move(*launch));
    copy.erase();
  }
  return module;
}

/// The least version that has the chip, as LLVM names it, and not below the one
/// whose instructions kernels are made of.
static const char *ptxVersion(llvm::StringRef chip) {
  return llvm::StringSwitch<const char *>(chip)
      .Case("sm_100", "+ptx86")
      .Case("sm_120", "+ptx87")
      .Default("+ptx80");
}

static llvm::Expected<std::string> assemble(ModuleOp module,
                                            llvm::StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  auto kernels = *module.getOps<gpu::GPUModuleOp>().begin();
  llvm::LLVMContext context;
  auto ir = translateModuleToLLVMIR(kernels, context, "mtc");
  if (!ir)
    return backendError("the kernels do not translate to LLVM IR");
  auto text =
      runBackend(*ir, {"nvptx64-nvidia-cuda", chip.str(), ptxVersion(chip)}, 2,
                 OutputKind::Assembly);
  if (text && llvm::StringRef(*text).contains(".extern .func"))
    return backendError("the PTX calls a function that it does not define");
  return text;
}

bool codegen::haveSameGpuCode(Operation *one, Operation *other) {
  auto isSame = [](rt::KernelOp a, rt::KernelOp b) {
    return a.getSymName() == b.getSymName() && rt::haveSameStructure(a, b);
  };
  return llvm::equal(kernelsOf(one), kernelsOf(other), isSame) &&
         alignmentsOf(one) == alignmentsOf(other);
}

llvm::Expected<GpuProgram> codegen::emitPtx(Operation *source,
                                            llvm::ArrayRef<std::string> chips) {
  GpuProgram program;
  auto module = buildModule(source, program.launches);
  if (failed(module) || failed(lowerGpu(**module)))
    return backendError(
        "the kernels cannot be lowered for a GPU; see the diagnostics");
  for (const std::string &chip : chips) {
    auto text = assemble(**module, chip);
    if (!text)
      return text.takeError();
    GpuCode &made = program.code.emplace_back();
    made.chip = chip;
    made.ptx = std::move(*text);
  }
  return program;
}
