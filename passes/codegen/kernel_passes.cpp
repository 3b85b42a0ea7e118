//===- kernel_passes.cpp - LLVM's passes for a CPU's kernels --------------===//
//
// What is left of LLVM 22's O2, in its order, without what does nothing to the
// kernels of plans (f32 and bf16, 1 and 2 threads), or moves no more than some
// of their instructions. Loops are unrolled once, behind all that looks at
// their bodies, and only those that codegen-kernels leaves to LLVM.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/kernel_passes.h"

#include "llvm/Passes/PassBuilder.h"

using namespace mtc;

/// In LLVM's own words, as `opt -passes` takes them.
static constexpr const char kPasses[] =
    "function(simplifycfg,early-cse,sccp,instcombine<no-verify-fixpoint>,"
    "reassociate,loop-mssa(licm<no-allowspeculation>,loop-rotate,licm),"
    "simplifycfg,instcombine<no-verify-fixpoint>,loop(indvars),gvn,"
    "vector-combine,loop-unroll<O2>,infer-alignment,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "simplifycfg<hoist-loads-stores-with-cond-faulting;"
    "speculate-unpredictables>)";

llvm::Error codegen::addKernelPasses(llvm::PassBuilder &builder,
                                     llvm::ModulePassManager &passes) {
  return builder.parsePassPipeline(passes, kPasses);
}
