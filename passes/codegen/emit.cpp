//===- emit.cpp - machine code of a module in the LLVM dialect ------------===//
#include "passes/codegen/emit.h"
#include "passes/codegen/llvm_backend.h"

#include "mtc/runtime/isa.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

llvm::Expected<TargetIsa> codegen::isaByName(llvm::StringRef name) {
  // What is generated has no products, so nothing of it is by tiles.
  if (name == "x86-64-v4-amx" || name == "x86-64-v4-bf16")
    return TargetIsa{name.str(), 16, "x86-64-v4", "+avx512bf16", true};
  if (name == "x86-64-v4")
    return TargetIsa{"x86-64-v4", 16, "x86-64-v4", ""};
  if (name == "x86-64-v3")
    return TargetIsa{"x86-64-v3", 8, "x86-64-v3", ""};
  return backendError("expected instruction set " + runtime::isaNames() +
                      ", found " + name);
}

llvm::Expected<TargetIsa> codegen::hostIsa() {
  for (std::string_view isa : runtime::kIsas)
    if (runtime::processorHas(isa))
      return isaByName(isa);
  return backendError(
      "expected a processor with AVX2 and FMA (x86-64-v3), found " +
      llvm::sys::getHostCPUName() + "; compile for it on another machine");
}

static void setAttributes(llvm::Module &module, const TargetIsa &isa) {
  std::string width = std::to_string(isa.lanes * 32);
  for (llvm::Function &f : module) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", isa.cpu);
    if (!isa.features.empty())
      f.addFnAttr("target-features", isa.features);
    f.addFnAttr("prefer-vector-width", width);
    f.addFnAttr("min-legal-vector-width", width);
    f.addFnAttr("no-trapping-math", "true");
    // Loops stay loops: no call of memset or memcpy may appear.
    f.addFnAttr("no-builtins");
    f.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

static llvm::Expected<std::string> emit(ModuleOp module, const TargetIsa &isa,
                                        int optLevel, OutputKind kind) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  llvm::LLVMContext context;
  auto ir = translateModuleToLLVMIR(module, context, "mtc");
  if (!ir)
    return backendError(
        "expected a module in the LLVM dialect, found one that does "
        "not translate");
  setAttributes(*ir, isa);
  return runBackend(*ir, {"x86_64-unknown-linux-gnu", isa.cpu, isa.features},
                    optLevel, kind, Passes::kernels);
}

llvm::Expected<std::string>
codegen::emitObjectBytes(ModuleOp module, const TargetIsa &isa, int optLevel) {
  return emit(module, isa, optLevel, OutputKind::Object);
}

llvm::Expected<std::string>
codegen::emitAssembly(ModuleOp module, const TargetIsa &isa, int optLevel) {
  return emit(module, isa, optLevel, OutputKind::Assembly);
}

llvm::Error codegen::emitObject(ModuleOp module, const TargetIsa &isa,
                                llvm::StringRef path, int optLevel) {
  auto bytes = emitObjectBytes(module, isa, optLevel);
  if (!bytes)
    return bytes.takeError();
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    file << *bytes;
    file.close();
    code = file.error();
  }
  if (code)
    return backendError("cannot write object file " + path + ": " +
                        code.message());
  return llvm::Error::success();
}
