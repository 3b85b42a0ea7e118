//===- register.cpp - our passes by flag ----------------------------------===//

#include "compiler/register.h"

#include "passes/Passes.h"
#include "passes/pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"

namespace mtc::compiler {

void registerMtcPasses() {
  [[maybe_unused]] static const bool once = [] {
    passes::registerMtcPasses(); // generated from Passes.td
    passes::registerPipelines();
    return true;
  }();
}

} // namespace mtc::compiler
