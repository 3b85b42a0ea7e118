//===- Passes.h - the passes of mtc -----------------------------*- C++ -*-===//
#ifndef MTC_PASSES_PASSES_H
#define MTC_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::passes {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace mtc::passes
#endif // MTC_PASSES_PASSES_H
