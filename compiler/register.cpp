//===- register.cpp - our passes by flag ----------------------------------===//
//
// Passes are known by name only: a pipeline names flags. Each constructor is
// referenced weakly, so a build of part of the folders registers the passes
// that it links, and the driver says which one is missing when it is asked for.
//
//===----------------------------------------------------------------------===//

#include "compiler/register.h"

#include "passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"

#define MTC_FOR_EACH_PASS(X)                                                   \
  X(Differentiate)                                                             \
  X(VerifyTraining)                                                            \
  X(AnnotateShardings)                                                         \
  X(PropagateShardings)                                                        \
  X(InsertCollectives)                                                         \
  X(Partition)                                                                 \
  X(VerifyPartitioned)                                                         \
  X(CutStages)                                                                 \
  X(BuildSchedule)                                                             \
  X(ExpandSchedule)                                                            \
  X(ShardOptimizer)                                                            \
  X(FuseKernels)                                                               \
  X(PlanMemory)                                                                \
  X(VerifyPlan)                                                                \
  X(CodegenKernels)                                                            \
  X(LowerToLLVM)

namespace mtc::passes {
#define MTC_WEAK_CREATE(name)                                                  \
  __attribute__((weak)) std::unique_ptr<mlir::Pass> create##name();
MTC_FOR_EACH_PASS(MTC_WEAK_CREATE)
#undef MTC_WEAK_CREATE
} // namespace mtc::passes

namespace mtc::compiler {

void registerMtcPasses() {
  [[maybe_unused]] static const bool once = [] {
    using Create = std::unique_ptr<mlir::Pass> (*)();
#define MTC_REGISTER(name)                                                     \
  if (Create create = &passes::create##name)                                   \
    mlir::registerPass([create] { return create(); });
    MTC_FOR_EACH_PASS(MTC_REGISTER)
#undef MTC_REGISTER
    return true;
  }();
}

} // namespace mtc::compiler
