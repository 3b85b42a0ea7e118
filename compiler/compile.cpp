//===- compile.cpp - spec and strategy to a bundle ------------------------===//

#include "compiler/compile.h"

#include "compiler/bundle.h"
#include "compiler/explain/served_buckets.h"
#include "compiler/front.h"
#include "compiler/gemm_choice.h"
#include "compiler/gpu_kernels.h"
#include "compiler/join_plans.h"
#include "compiler/kernel_objects.h"
#include "compiler/memory_limit.h"
#include "compiler/output_folder.h"
#include "compiler/print_ir.h"
#include "compiler/read_plan.h"
#include "compiler/verify_join.h"
#include "dialects/rt/Rt.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ThreadPool.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

struct CompiledIR {
  ProofCounts proof; ///< what the context counts in
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

namespace {

Status show(const CompileOptions &options, mlir::ModuleOp module, Phase phase,
            mlir::TimingScope &timing) {
  if (!wantsResult(options, phase))
    return Status::okay();
  mlir::TimingScope scope = timing.nest("print IR");
  return showResult(options, phase, printModule(module));
}

Status writeStopped(const CompileOptions &options, const std::string &text) {
  if (!options.output.empty() && options.output != "-")
    return writeFile(options.output, text, runtime::NameSync::here);
  bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (whole && std::fflush(stdout) == 0)
    return Status::okay();
  return {
      StatusCode::writeFailed,
      fmt::format("cannot write to standard output: {}", std::strerror(errno))};
}

/// Of IR, the table is what its note says, and no option.
Status ofNote(const CompileOptions &options, const Status &status) {
  if (status.ok() || !options.startsFromIR())
    return status;
  return {status.code(),
          fmt::format("'{}' asks for a table of products (mtc.gemm_table): {}",
                      options.inputName(), status.message())};
}

/// Runs the phases after `after` up to `last` or to where the options stop.
/// What a verifier wrote may have been edited since, so it looks again.
Status runPhases(const CompileOptions &options, mlir::ModuleOp module,
                 DiagnosticLog &log, Phase after, Phase last,
                 mlir::TimingScope &timing, GemmChoices &gemms) {
  for (const passes::PhaseInfo &info : passes::allPhases()) {
    if (info.phase > last || (options.to && info.phase > *options.to))
      break;
    bool verifier = isVerifier(info.phase);
    if (info.phase < after || (info.phase == after && !verifier) ||
        (verifier && !options.verify))
      continue;
    MTC_RETURN_IF_ERROR(runPhase(info.phase, module, log, timing,
                                 checkBehind(options, info.phase)));
    if (info.phase == Phase::storeGradients)
      MTC_RETURN_IF_ERROR(ofNote(options, chooseGemmKernels(module, gemms)));
    MTC_RETURN_IF_ERROR(show(options, module, info.phase, timing));
  }
  return Status::okay();
}

/// The first module, verified; `after` is the phase whose result it is.
Status begin(const CompileOptions &options, mlir::MLIRContext &context,
             DiagnosticLog &log, mlir::OwningOpRef<mlir::ModuleOp> &module,
             Phase &after, mlir::TimingScope &timing) {
  mlir::TimingScope scope =
      timing.nest(options.startsFromIR() ? "read IR" : "import");
  MTC_RETURN_IF_ERROR(makeModule(options, context, log, module, after));
  if (failed(mlir::verify(*module)))
    return {StatusCode::internal, fmt::format("phase {} gave invalid IR\n{}",
                                              toString(after), log.take())};
  if (after >= Phase::storeGradients)
    MTC_RETURN_IF_ERROR(ofNote(options, checkGemmsAreChosen(*module)));
  return checkPhases(options, after);
}

/// Thread Sanitizer does not see the atomics of libMLIR, which is not
/// instrumented: there MLIR gets no threads.
bool hasThreads(const CompileOptions &options) {
  return options.threads > 1 && !LLVM_THREAD_SANITIZER_BUILD;
}

/// While the plan is looked at. Code is made only of kernels that phases made:
/// those of a file that a person edited are seen first. Several plans share
/// kernels once they are one.
bool makesKernelsEarly(const CompileOptions &options, mlir::ModuleOp module) {
  return hasThreads(options) && !options.to && !options.startsFromIR() &&
         options.verify && plansOf(module).size() == 1;
}

Status compileModule(const CompileOptions &options, CompileResult &result,
                     mlir::TimingScope &timing) {
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency(options.threads));
  result.ir = std::make_shared<CompiledIR>();
  auto &[proof, context, module] = *result.ir;
  context = makeContext(hasThreads(options) ? &threads : nullptr);
  // It outlives the threads.
  auto leave = llvm::scope_exit([&] { context->disableMultithreading(); });
  DiagnosticLog log(*context);
  listenForProof(*context, proof);
  Phase after = Phase::import;
  MTC_RETURN_IF_ERROR(begin(options, *context, log, module, after, timing));
  std::vector<std::string> chips;
  MTC_RETURN_IF_ERROR(readGpuTarget(options, *module, chips));
  if (!isVerifier(after)) // a file of this name says that it was verified
    MTC_RETURN_IF_ERROR(show(options, *module, after, timing));
  GemmChoices gemms;
  MTC_RETURN_IF_ERROR(runPhases(options, *module, log, after, Phase::planMemory,
                                timing, gemms));
  std::optional<KernelObjects> kernels;
  if (chips.empty() && makesKernelsEarly(options, *module)) {
    loadCodeDialects(*context);
    kernels.emplace(*module, checkBehind(options, Phase::lowerToLLVM));
    kernels->begin(timing);
  }
  MTC_RETURN_IF_ERROR(runPhases(options, *module, log,
                                std::max(after, Phase::planMemory),
                                Phase::verifyPlan, timing, gemms));
  if (options.to && *options.to <= Phase::verifyPlan)
    return writeStopped(options, printModule(*module));

  // What plans compute was verified: programs are made of bytes only.
  MTC_RETURN_IF_ERROR(joinVerified(*module, options.verify, log));
  std::vector<ServedBucket> served = servedBuckets(*module);
  module->walk([](rt::TensorFormOp form) { form.erase(); });
  BundlePlan plan;
  {
    mlir::TimingScope scope = timing.nest("read plan");
    MTC_RETURN_IF_ERROR(readPlan(*module, plan));
  }
  plan.proof = proof;
  plan.gemms = gemms;
  writeServedBuckets(served);
  if (!chips.empty()) {
    mlir::TimingScope scope = timing.nest("PTX");
    if (!options.to)
      MTC_RETURN_IF_ERROR(checkGpuCalls(*module));
    MTC_RETURN_IF_ERROR(addGpuCode(*module, chips, options.cubin, log, plan));
  }
  MTC_RETURN_IF_ERROR(checkMemory(plan)); // kernels of a GPU have a workspace
  if (!chips.empty() && options.to)
    return writeGpuKernels(options, plan);
  if (options.to && *options.to < Phase::link) {
    std::string text;
    MTC_RETURN_IF_ERROR(lowerStages(options, *module, plan, log, timing, text));
    return writeStopped(options, text);
  }
  if (!kernels)
    kernels.emplace(*module, checkBehind(options, Phase::lowerToLLVM));
  return writeBundle(options, *module, plan, *kernels, log, timing, result);
}

/// IR may have been edited: what a phase makes of it is no bug of mtc.
Status blame(const CompileOptions &options, const Status &status) {
  if (status.code() != StatusCode::internal)
    return status;
  if (options.startsFromIR())
    return {StatusCode::infeasible, status.message()};
  return {StatusCode::internal, "this is a bug of mtc: " + status.message()};
}

} // namespace

Status compile(const CompileOptions &options, CompileResult &result) {
  auto start = std::chrono::steady_clock::now();
  MTC_RETURN_IF_ERROR(checkOptions(options));
  mlir::DefaultTimingManager times; // prints to stderr when it ends
  times.setEnabled(options.timing);
  mlir::TimingScope timing = times.getRootScope();
  if (Status status = compileModule(options, result, timing); !status.ok())
    return blame(options, status);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return Status::okay();
}

} // namespace mtc::compiler
