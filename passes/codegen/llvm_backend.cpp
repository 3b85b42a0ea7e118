//===- llvm_backend.cpp - LLVM IR to text or bytes ------------------------===//
#include "passes/codegen/llvm_backend.h"
#include "passes/codegen/kernel_passes.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mtc::codegen;

static llvm::Error optimise(llvm::Module &module, llvm::TargetMachine &machine,
                            int level, Passes which) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::ModulePassManager passes;
  if (level == 0)
    passes = builder.buildO0DefaultPipeline(levels[0]);
  else if (which == Passes::level)
    passes = builder.buildPerModuleDefaultPipeline(levels[level]);
  else if (auto error = addKernelPasses(builder, passes))
    return error;
  passes.run(module, modules);
  return llvm::Error::success();
}

llvm::Error mtc::codegen::backendError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

llvm::Expected<std::string>
mtc::codegen::runBackend(llvm::Module &module, const BackendTarget &target,
                         int optLevel, OutputKind kind, Passes passes) {
  if (optLevel < 0 || optLevel > 3)
    return backendError("expected an optimisation level of 0 to 3, found " +
                        llvm::Twine(optLevel));
  llvm::Triple triple(target.triple);
  std::string message;
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return backendError("this LLVM has no target " + target.triple + ": " +
                        message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const llvm::CodeGenOptLevel levels[] = {
      llvm::CodeGenOptLevel::None, llvm::CodeGenOptLevel::Less,
      llvm::CodeGenOptLevel::Default, llvm::CodeGenOptLevel::Aggressive};
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      std::nullopt, levels[optLevel]));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  if (auto error = optimise(module, *machine, optLevel, passes))
    return error;
  llvm::SmallString<0> out;
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager emitter;
  auto file = kind == OutputKind::Object ? llvm::CodeGenFileType::ObjectFile
                                         : llvm::CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, file))
    return backendError("the target " + target.triple +
                        " cannot emit this kind of file");
  emitter.run(module);
  return std::string(out.str());
}
