//===- llvm_backend.h - LLVM IR to text or bytes ----------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_LLVM_BACKEND_H
#define MTC_PASSES_CODEGEN_LLVM_BACKEND_H

#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mtc::codegen {

enum class OutputKind { Object, Assembly };

/// What runs in front of instruction selection at levels above 0.
enum class Passes {
  level,  ///< LLVM's of the level
  kernels ///< kernel_passes.h
};

struct BackendTarget {
  std::string triple, cpu, features;
};

/// An error of a lower-case sentence.
llvm::Error backendError(const llvm::Twine &text);

/// Optimises `module` (0 to 3) and emits it. The target must be initialised.
/// Vectorisers are off (the generator writes vectors) and no multiplication is
/// fused with an addition.
llvm::Expected<std::string> runBackend(llvm::Module &module,
                                       const BackendTarget &target,
                                       int optLevel, OutputKind kind,
                                       Passes passes = Passes::level);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_LLVM_BACKEND_H
