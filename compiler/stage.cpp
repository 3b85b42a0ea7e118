//===- stage.cpp - one rt.program to LLVM and object files ----------------===//

#include "compiler/stage.h"

#include "compiler/object.h"
#include "compiler/print_ir.h"
#include "compiler/run_phase.h"
#include "compiler/tables.h"
#include "dialects/rt/Rt.h"
#include "passes/PhasePass.h"
#include "passes/codegen/emit.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

using Wanted = llvm::function_ref<bool(mlir::Operation &)>;

/// The operations of `program` that are `wanted`, in a module of their own.
mlir::OwningOpRef<mlir::ModuleOp> extract(rt::ProgramOp program,
                                          Wanted wanted) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(program.getLoc());
  mlir::OpBuilder builder(program.getContext());
  builder.setInsertionPointToEnd(module->getBody());
  for (mlir::Operation &op : program.getBody().front())
    if (wanted(op))
      builder.clone(op);
  return module;
}

void setAttributes(mlir::ModuleOp module, mlir::ModuleOp parent,
                   rt::ProgramOp program) {
  for (mlir::NamedAttribute attribute : parent->getDiscardableAttrs())
    module->setAttr(attribute.getName(), attribute.getValue());
  // A module takes only attributes whose names have a dialect's prefix.
  for (mlir::NamedAttribute attribute : program->getDiscardableAttrs())
    if (attribute.getNameDialect())
      module->setAttr(attribute.getName(), attribute.getValue());
  mlir::Builder builder(module.getContext());
  module->setAttr("rt.stage", builder.getI64IntegerAttr(program.getStage()));
}

std::string stageText(mlir::ModuleOp parent, rt::ProgramOp program) {
  auto module = extract(program, [](mlir::Operation &) { return true; });
  setAttributes(*module, parent, program);
  return textOf(*module);
}

/// The code of a stage. A part of the IR is the result of no phase.
std::string codeText(mlir::ModuleOp parent, rt::ProgramOp program) {
  auto module = extract(program, [](mlir::Operation &op) {
    return !llvm::isa_and_nonnull<rt::RtDialect>(op.getDialect());
  });
  setAttributes(*module, parent, program);
  (*module)->removeAttr(passes::phaseAttr);
  return textOf(*module);
}

/// No attributes: kernels depend on nothing around them.
std::string kernelText(rt::ProgramOp program) {
  auto module = extract(
      program, [](mlir::Operation &op) { return llvm::isa<rt::KernelOp>(op); });
  return module->getBody()->empty() ? "" : textOf(*module);
}

std::vector<rt::ProgramOp> programsByStage(mlir::ModuleOp module) {
  std::vector<rt::ProgramOp> programs(module.getOps<rt::ProgramOp>().begin(),
                                      module.getOps<rt::ProgramOp>().end());
  std::stable_sort(programs.begin(), programs.end(),
                   [](auto a, auto b) { return a.getStage() < b.getStage(); });
  return programs;
}

/// Kernels and descriptions are done with; what remains is LLVM.
void eraseDescriptions(mlir::ModuleOp module) {
  for (mlir::Operation &op :
       llvm::make_early_inc_range(module.getBody()->getOperations()))
    if (llvm::isa_and_nonnull<rt::RtDialect>(op.getDialect()))
      op.erase();
}

/// Runs one phase, kernels with the vectors of the instruction set. Its time is
/// not told apart further: many stages run the same passes at other addresses.
Status lower(Phase phase, mlir::ModuleOp module, DiagnosticLog &log,
             const std::string &isa, mlir::TimingScope &timing) {
  mlir::TimingScope scope = timing.nest(llvm::StringRef(toString(phase)));
  mlir::TimingScope whole;
  if (phase != Phase::codegenKernels)
    return runPhase(phase, module, log, whole);
  auto target = codegen::isaByName(isa);
  if (!target)
    return {StatusCode::usage, llvm::toString(target.takeError())};
  return runPhase(phase, module, log, whole,
                  fmt::format("vector-width={} native-bf16={}", target->lanes,
                              target->nativeBf16));
}

Status inStage(int64_t stage, const Status &status) {
  if (status.ok())
    return status;
  return {status.code(), fmt::format("stage {}: {}", stage, status.message())};
}

/// The text came from a module that was verified, and a part of it names
/// functions of the other.
Status parse(const std::string &ir, mlir::MLIRContext &context,
             DiagnosticLog &log, mlir::OwningOpRef<mlir::ModuleOp> &module) {
  module = mlir::parseSourceString<mlir::ModuleOp>(
      ir, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  if (module)
    return Status::okay();
  return {StatusCode::internal,
          "the stage's module does not parse again\n" + log.take()};
}

Status lowerModule(StageJob &job, mlir::TimingScope &timing) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log(*context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  MTC_RETURN_IF_ERROR(parse(job.ir, *context, log, module));
  for (Phase phase : {Phase::codegenKernels, Phase::lowerToLLVM}) {
    MTC_RETURN_IF_ERROR(lower(phase, *module, log, job.isa, timing));
    job.saved.emplace_back(phase, printModule(*module));
    if (job.stopAfter == phase)
      break;
  }
  return Status::okay();
}

Status addTables(mlir::ModuleOp module, const ObjectJob &job) {
  eraseDescriptions(module);
  std::string missing = appendTables(module, *job.program, job.descriptor);
  if (missing.empty())
    return Status::okay();
  return {StatusCode::internal,
          fmt::format("phase lower-to-llvm left no function @{}", missing)};
}

Status makeObject(const ObjectJob &job, mlir::TimingScope &timing) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log(*context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  MTC_RETURN_IF_ERROR(parse(job.ir, *context, log, module));
  if (!job.program)
    MTC_RETURN_IF_ERROR(
        lower(Phase::codegenKernels, *module, log, job.isa, timing));
  MTC_RETURN_IF_ERROR(lower(Phase::lowerToLLVM, *module, log, job.isa, timing));
  if (job.program)
    MTC_RETURN_IF_ERROR(addTables(*module, job));
  mlir::TimingScope scope = timing.nest("machine code");
  // Fragments are calls, and there is little in them to gain.
  return emitObject(*module, job.isa, job.object, job.program ? 1 : 2);
}

} // namespace

std::vector<std::string> splitStages(mlir::ModuleOp module) {
  std::vector<std::string> stages;
  for (rt::ProgramOp program : programsByStage(module))
    stages.push_back(stageText(module, program));
  return stages;
}

std::vector<StageParts> splitParts(mlir::ModuleOp module) {
  std::vector<StageParts> parts;
  for (rt::ProgramOp program : programsByStage(module))
    parts.push_back({kernelText(program), codeText(module, program)});
  return parts;
}

Status lowerStage(StageJob &job, mlir::TimingScope &timing) {
  return inStage(job.stage, lowerModule(job, timing));
}

Status compileObject(const ObjectJob &job, mlir::TimingScope &timing) {
  return inStage(job.stage, makeObject(job, timing));
}

} // namespace mtc::compiler
