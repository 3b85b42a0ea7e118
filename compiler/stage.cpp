//===- stage.cpp - one rt.program to an object file -----------------------===//

#include "compiler/stage.h"

#include "compiler/object.h"
#include "compiler/run_phase.h"
#include "compiler/tables.h"
#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

std::string stageText(mlir::ModuleOp parent, rt::ProgramOp program) {
  mlir::OpBuilder builder(parent.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(program.getLoc());
  for (mlir::NamedAttribute attribute : parent->getDiscardableAttrs())
    (*module)->setAttr(attribute.getName(), attribute.getValue());
  // A module takes only attributes whose names have a dialect's prefix.
  for (mlir::NamedAttribute attribute : program->getDiscardableAttrs())
    if (attribute.getNameDialect())
      (*module)->setAttr(attribute.getName(), attribute.getValue());
  (*module)->setAttr("rt.stage", builder.getI64IntegerAttr(program.getStage()));
  builder.setInsertionPointToEnd(module->getBody());
  for (mlir::Operation &op : program.getBody().front())
    builder.clone(op);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

/// Kernels and descriptions are done with; what remains is LLVM.
void eraseDescriptions(mlir::ModuleOp module) {
  for (mlir::Operation &op :
       llvm::make_early_inc_range(module.getBody()->getOperations()))
    if (llvm::isa_and_nonnull<rt::RtDialect>(op.getDialect()))
      op.erase();
}

/// Lanes of fp32 in the widest vectors of the instruction set, and whether it
/// rounds to bf16.
std::string codegenOptions(const std::string &isa) {
  if (isa == "x86-64-v4-bf16")
    return "vector-width=16 native-bf16=true";
  return isa == "x86-64-v3" ? "vector-width=8" : "vector-width=16";
}

Status lower(Phase phase, mlir::ModuleOp module, DiagnosticLog &log,
             StageJob &job) {
  std::string options =
      phase == Phase::codegenKernels ? codegenOptions(job.isa) : "";
  MTC_RETURN_IF_ERROR(runPhase(phase, module, log, options));
  if (job.keepIR || job.stopAfter == phase)
    job.saved.emplace_back(phase, printModule(module, phase));
  return Status::okay();
}

Status writeObject(mlir::ModuleOp module, StageJob &job) {
  eraseDescriptions(module);
  std::string missing = appendTables(module, *job.program, job.descriptor);
  if (!missing.empty())
    return {StatusCode::internal,
            fmt::format("phase lower-to-llvm left no function @{}", missing)};
  return emitObject(module, job.isa, job.object);
}

Status inStage(const StageJob &job, const Status &status) {
  if (status.ok())
    return status;
  return {status.code(),
          fmt::format("stage {}: {}", job.program->stage, status.message())};
}

Status compileModule(StageJob &job) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log(*context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(job.ir, context.get());
  if (!module)
    return {StatusCode::internal,
            "the stage's module does not parse again\n" + log.take()};
  for (Phase phase : {Phase::codegenKernels, Phase::lowerToLLVM}) {
    MTC_RETURN_IF_ERROR(lower(phase, *module, log, job));
    if (job.stopAfter == phase)
      return Status::okay();
  }
  return writeObject(*module, job);
}

} // namespace

std::vector<std::string> splitStages(mlir::ModuleOp module) {
  std::vector<rt::ProgramOp> programs(module.getOps<rt::ProgramOp>().begin(),
                                      module.getOps<rt::ProgramOp>().end());
  std::stable_sort(programs.begin(), programs.end(),
                   [](auto a, auto b) { return a.getStage() < b.getStage(); });
  std::vector<std::string> stages;
  for (rt::ProgramOp program : programs)
    stages.push_back(stageText(module, program));
  return stages;
}

Status compileStage(StageJob &job) { return inStage(job, compileModule(job)); }

Status compileStages(std::vector<StageJob> &jobs, int threads) {
  std::vector<Status> results(jobs.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < jobs.size();)
      results[i] = compileStage(jobs[i]);
  };
  std::vector<std::jthread> pool;
  for (int i = 1; i < threads && i < static_cast<int>(jobs.size()); ++i)
    pool.emplace_back(work);
  work();
  pool.clear(); // joins
  for (Status &status : results)
    MTC_RETURN_IF_ERROR(std::move(status));
  return Status::okay();
}

} // namespace mtc::compiler
