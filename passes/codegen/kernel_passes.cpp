//===- kernel_passes.cpp - LLVM's passes for a CPU's kernels --------------===//
//
// Found by leaving out one after the other of LLVM 22's O2, in its order, for
// as long as no byte of the objects of nine plans changed (f32 and bf16, 1 and
// 2 threads, tp, GPT and LLaMA layers, four optimizers).
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/kernel_passes.h"

#include "llvm/Passes/PassBuilder.h"

using namespace mtc;

/// In LLVM's own words, as `opt -passes` takes them.
static constexpr const char kPasses[] =
    "function(simplifycfg,early-cse,sccp,instcombine<no-verify-fixpoint>,"
    "early-cse<memssa>,instcombine<no-verify-fixpoint>,reassociate,"
    "loop-mssa(licm<no-allowspeculation>,loop-rotate,licm),simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop(indvars,loop-unroll-full),sroa,gvn,"
    "sccp,bdce,instcombine<no-verify-fixpoint>,correlated-propagation,"
    "loop-mssa(licm),vector-combine,loop-unroll<O2>,infer-alignment,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "simplifycfg<hoist-loads-stores-with-cond-faulting;"
    "speculate-unpredictables>)";

llvm::Error codegen::addKernelPasses(llvm::PassBuilder &builder,
                                     llvm::ModulePassManager &passes) {
  return builder.parsePassPipeline(passes, kPasses);
}
