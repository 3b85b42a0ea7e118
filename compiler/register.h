//===- register.h - dialects and passes by name -----------------*- C++ -*-===//
#ifndef MTC_COMPILER_REGISTER_H
#define MTC_COMPILER_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mtc::compiler {

/// Adds our dialects and those upstream ones that their IR is lowered to.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the passes of passes/Passes.td under their flags and the pipelines
/// of passes/phases.h, once per process; further calls do nothing.
void registerMtcPasses();

/// Registers the upstream passes that help to look at our IR: clean-ups, and
/// what removes locations. For mtc-opt only.
void registerUpstreamPasses();

} // namespace mtc::compiler
#endif // MTC_COMPILER_REGISTER_H
