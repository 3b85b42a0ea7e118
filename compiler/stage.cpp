//===- stage.cpp - one rt.program to LLVM and object files ----------------===//

#include "compiler/stage.h"

#include "compiler/object.h"
#include "compiler/print_ir.h"
#include "compiler/run_phase.h"
#include "compiler/tables.h"
#include "passes/PhasePass.h"
#include "passes/codegen/emit.h"
#include "passes/pipelines.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

using Wanted = llvm::function_ref<bool(mlir::Operation &)>;

/// Copies of the operations of `program` that are `wanted`, in a module of
/// their own.
mlir::OwningOpRef<mlir::ModuleOp> copyOf(rt::ProgramOp program, Wanted wanted) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(program.getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (mlir::Operation &op : program.getBody().front())
    if (wanted(op))
      builder.clone(op);
  return module;
}

/// The attributes of the module around a program, those of the program that
/// have a dialect's prefix, and `rt.stage`.
void setAttributes(mlir::ModuleOp module, rt::ProgramOp program) {
  auto parent = program->getParentOfType<mlir::ModuleOp>();
  mlir::NamedAttrList list(parent->getDiscardableAttrDictionary());
  // A module takes only attributes whose names have a dialect's prefix.
  for (mlir::NamedAttribute attribute : program->getDiscardableAttrs())
    if (attribute.getNameDialect())
      list.set(attribute.getName(), attribute.getValue());
  mlir::Builder builder(module.getContext());
  list.set("rt.stage", builder.getI64IntegerAttr(program.getStage()));
  module->setDiscardableAttrs(list.getDictionary(module.getContext()));
}

/// Launches of a copy name kernels as objects do.
void renameLaunches(mlir::ModuleOp copy, const KernelNames &names) {
  copy.walk([&](rt::LaunchOp launch) {
    if (auto at = names.find(launch.getKernel()); at != names.end())
      launch.setKernel(at->second);
  });
}

/// Launches of a copy say which entries of a GPU's code they start.
void addEntries(mlir::ModuleOp copy, const codegen::GpuProgram &gpu) {
  llvm::StringMap<mlir::DenseI64ArrayAttr> entries;
  int64_t row = 0;
  for (const codegen::GpuLaunch &launch : gpu.launches) {
    std::vector<int64_t> numbers;
    for (const codegen::GpuEntry &entry : launch.entries)
      numbers.insert(numbers.end(),
                     {row++, entry.blocks, entry.columnsPerBlock});
    numbers.push_back(launch.arguments);
    numbers.push_back(launch.guarded);
    numbers.push_back(launch.workspaceBytes > 0);
    entries[launch.kernel] =
        mlir::DenseI64ArrayAttr::get(copy.getContext(), numbers);
  }
  copy.walk([&](rt::LaunchOp launch) {
    launch->setAttr(codegen::kEntriesAttr, entries.lookup(launch.getKernel()));
  });
}

/// A stage as a module: kernels, fragments and descriptions.
mlir::OwningOpRef<mlir::ModuleOp> copyStage(const StageJob &job) {
  auto module = copyOf(job.program, [](mlir::Operation &) { return true; });
  setAttributes(*module, job.program);
  return module;
}

/// The code of a stage, without what no code is made of: timelines alone are
/// most of a large plan. A part of the IR is the result of no phase.
mlir::OwningOpRef<mlir::ModuleOp> copyFragments(const ObjectJob &job) {
  auto module = copyOf(job.program, [](mlir::Operation &op) {
    return !llvm::isa_and_nonnull<rt::RtDialect>(op.getDialect());
  });
  setAttributes(*module, job.program);
  (*module)->removeAttr(passes::phaseAttr);
  renameLaunches(*module, job.names);
  if (!job.plan->gpu.code.empty())
    addEntries(*module, job.plan->gpu);
  return module;
}

/// No attributes: kernels depend on nothing around them.
mlir::OwningOpRef<mlir::ModuleOp>
copyKernels(llvm::ArrayRef<NamedKernel> kernels) {
  rt::KernelOp front = kernels.front().kernel;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(front.getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (NamedKernel each : kernels)
    llvm::cast<rt::KernelOp>(builder.clone(*each.kernel)).setSymName(each.name);
  return module;
}

/// Runs one phase, kernels with the vectors of the instruction set, for
/// `threads` of a rank, or as many as the module's configuration has (0). Its
/// time is not told apart further: many stages run the same passes at other
/// addresses.
Status lower(Phase phase, mlir::ModuleOp module, const std::string &isa,
             int64_t threads, IRCheck check, mlir::TimingScope &timing) {
  mlir::TimingScope scope = timing.nest(llvm::StringRef(toString(phase)));
  mlir::TimingScope whole;
  if (phase != Phase::codegenKernels)
    return runPass(phase, module, whole, check);
  auto target = codegen::isaByName(isa);
  if (!target)
    return {StatusCode::usage, llvm::toString(target.takeError())};
  return runPass(phase, module, whole, check,
                 fmt::format("vector-width={} native-bf16={} threads={}",
                             target->lanes, target->nativeBf16, threads));
}

/// Kernels in the LLVM dialect.
Status lowerKernels(const ObjectJob &job, mlir::TimingScope &timing,
                    mlir::OwningOpRef<mlir::ModuleOp> &module) {
  module = copyKernels(job.kernels);
  MTC_RETURN_IF_ERROR(lower(Phase::codegenKernels, *module, job.isa,
                            job.threads, job.check, timing));
  return lower(Phase::lowerToLLVM, *module, job.isa, job.threads, job.check,
               timing);
}

} // namespace

void loadCodeDialects(mlir::MLIRContext &context) {
  mlir::PassManager manager(&context);
  std::string problem; // which is reported where a phase runs
  for (Phase phase : {Phase::codegenKernels, Phase::lowerToLLVM})
    (void)passes::addPhase(manager, phase, "", problem);
  mlir::DialectRegistry registry;
  manager.getDependentDialects(registry);
  context.appendDialectRegistry(registry);
  codegen::registerTranslations(context);
  for (llvm::StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

std::vector<rt::ProgramOp> programsByStage(mlir::ModuleOp module) {
  std::vector<rt::ProgramOp> programs(module.getOps<rt::ProgramOp>().begin(),
                                      module.getOps<rt::ProgramOp>().end());
  std::stable_sort(programs.begin(), programs.end(),
                   [](auto a, auto b) { return a.getStage() < b.getStage(); });
  return programs;
}

Status lowerStage(StageJob &job, mlir::TimingScope &timing) {
  mlir::OwningOpRef<mlir::ModuleOp> module = copyStage(job);
  for (Phase phase : {Phase::codegenKernels, Phase::lowerToLLVM}) {
    MTC_RETURN_IF_ERROR(
        lower(phase, *module, job.isa, 0, IRCheck::eachPass, timing));
    job.saved.emplace_back(phase, printModule(*module));
    if (job.stopAfter == phase)
      break;
  }
  return Status::okay();
}

Status lowerFragments(const ObjectJob &job, mlir::TimingScope &timing,
                      mlir::OwningOpRef<mlir::ModuleOp> &module) {
  module = copyFragments(job);
  return lower(Phase::lowerToLLVM, *module, job.isa, job.threads, job.check,
               timing);
}

Status addTables(mlir::ModuleOp module, const ObjectJob &job,
                 llvm::ArrayRef<PlanFragment> fragments) {
  std::string missing = appendTables(module, *job.plan, fragments,
                                     job.runtimeKernels, job.descriptor);
  if (missing.empty())
    return Status::okay();
  return {StatusCode::internal,
          fmt::format("phase lower-to-llvm left no function @{}", missing)};
}

Status makeFragmentObject(mlir::ModuleOp module, const std::string &isa,
                          mlir::TimingScope &timing, std::string &bytes) {
  mlir::TimingScope scope = timing.nest("machine code");
  // Fragments are calls: there is little in them to gain, and optimizing them
  // would be most of the time of a plan with many stages.
  return makeObject(module, isa, 0, bytes);
}

Status makeObject(const ObjectJob &job, mlir::TimingScope &timing,
                  std::string &bytes) {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (job.plan) {
    MTC_RETURN_IF_ERROR(lowerFragments(job, timing, module));
    MTC_RETURN_IF_ERROR(addTables(*module, job, job.plan->fragments));
    return makeFragmentObject(*module, job.isa, timing, bytes);
  }
  MTC_RETURN_IF_ERROR(lowerKernels(job, timing, module));
  mlir::TimingScope scope = timing.nest("machine code");
  return makeObject(*module, job.isa, 2, bytes);
}

} // namespace mtc::compiler
