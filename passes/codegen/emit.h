//===- emit.h - machine code of kernels and fragments -----------*- C++ -*-===//
//
// From modules of func + scf + vector (after `codegen-kernels`) to the LLVM
// dialect, and from there to an object file or assembly text. Nothing here
// allows the compiler to change floating-point arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_EMIT_H
#define MTC_PASSES_CODEGEN_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mtc::codegen {

/// A CPU instruction set that programs are compiled for.
struct TargetIsa {
  std::string name;        ///< one of kIsas
  int64_t lanes = 0;       ///< fp32 values of a vector: 8 or 16
  std::string cpu;         ///< LLVM's name of the CPU
  std::string features;    ///< further LLVM features, +a,-b
  bool nativeBf16 = false; ///< an instruction rounds f32 to bf16
};

/// The instruction set by name; an error lists the known ones.
llvm::Expected<TargetIsa> isaByName(llvm::StringRef name);
/// The largest instruction set that this machine has.
llvm::Expected<TargetIsa> hostIsa();

/// Registers the translations of the dialects that end in LLVM IR. Call it on a
/// context before `emitObject`.
void registerTranslations(mlir::MLIRContext &context);

/// Appends the passes from func + scf + vector + arith + math + memref to the
/// LLVM dialect. Memrefs become bare pointers and must have static shapes.
void addLowerToLlvmPasses(mlir::OpPassManager &passes);
/// Runs them on one module.
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module);

/// Writes an object file of a module in the LLVM dialect. `optLevel`: 0 to 3.
/// The same module and instruction set give the same bytes.
llvm::Error emitObject(mlir::ModuleOp module, const TargetIsa &isa,
                       llvm::StringRef path, int optLevel = 2);
/// The same as bytes, and as assembly text.
llvm::Expected<std::string>
emitObjectBytes(mlir::ModuleOp module, const TargetIsa &isa, int optLevel = 2);
llvm::Expected<std::string>
emitAssembly(mlir::ModuleOp module, const TargetIsa &isa, int optLevel = 2);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_EMIT_H
