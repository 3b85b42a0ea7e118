//===- plan_strategy.cpp - spec and strategy to a plan, no code -----------===//

#include "compiler/plan_strategy.h"

#include "compiler/front.h"
#include "compiler/gemm_choice.h"
#include "compiler/proof_log.h"
#include "compiler/read_plan.h"
#include "compiler/verify_join.h"
#include "dialects/rt/Rt.h"

#include "llvm/Support/Compiler.h"
#include "llvm/Support/ThreadPool.h"

using mtc::runtime::Status;

namespace mtc::compiler {

static Status runPhases(mlir::ModuleOp module, bool verify, DiagnosticLog &log,
                        GemmChoices &gemms) {
  mlir::TimingScope untimed;
  for (const passes::PhaseInfo &info : passes::allPhases()) {
    bool isPass = info.phase > Phase::import && info.phase <= Phase::verifyPlan;
    // As checkBehind says of a spec.
    IRCheck check =
        info.phase == Phase::planMemory ? IRCheck::result : IRCheck::none;
    if (isPass && (verify || !isVerifier(info.phase)))
      MTC_RETURN_IF_ERROR(runPhase(info.phase, module, log, untimed, check));
    if (info.phase == Phase::storeGradients)
      MTC_RETURN_IF_ERROR(chooseGemmKernels(module, gemms));
  }
  return Status::okay();
}

Status planStrategy(const models::ModelSpec &spec,
                    const models::Strategy &strategy,
                    const PlanRequest &request, BundlePlan &plan) {
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency(request.threads));
  // As in compile.cpp: Thread Sanitizer does not see the atomics of libMLIR.
  bool hasThreads = request.threads > 1 && !LLVM_THREAD_SANITIZER_BUILD;
  std::unique_ptr<mlir::MLIRContext> context =
      makeContext(hasThreads ? &threads : nullptr);
  DiagnosticLog log(*context);
  ProofCounts proof;
  listenForProof(*context, proof);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  MTC_RETURN_IF_ERROR(
      importInputs(spec, strategy, request.isa, *context, log, module));
  GemmChoices gemms;
  MTC_RETURN_IF_ERROR(runPhases(*module, request.verify, log, gemms));
  MTC_RETURN_IF_ERROR(joinVerified(*module, request.verify, log));
  // As in compile.cpp: with them the plan would have another number.
  module->walk([](rt::TensorFormOp form) { form.erase(); });
  MTC_RETURN_IF_ERROR(readPlan(*module, plan));
  plan.proof = proof;
  plan.gemms = gemms;
  return Status::okay();
}

} // namespace mtc::compiler
