//===- register.h - dialects and passes by name -----------------*- C++ -*-===//
#ifndef MTC_COMPILER_REGISTER_H
#define MTC_COMPILER_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mtc::compiler {

/// Adds our dialects, the upstream ones with their extensions, and what their
/// translation to LLVM IR needs.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the passes of passes/Passes.td under their flags, once per
/// process; further calls do nothing.
void registerMtcPasses();

/// Registers the upstream passes; for mtc-opt only.
void registerUpstreamPasses();

} // namespace mtc::compiler
#endif // MTC_COMPILER_REGISTER_H
