//===- fragments.cpp - fragments of functions, down to launches -----------===//
#include "fragments.h"
#include "harness.h"

#include "dialects/dist/Dist.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

static std::string moduleOf(const std::vector<RandomFunction> &functions) {
  std::string text, params, fragments;
  for (const RandomFunction &f : functions) {
    text += f.function;
    params += f.params;
    fragments += f.fragment;
  }
  return "module attributes {mtc.config = #mtc.config<model = <name = \"m\", "
         "layers = 1, hidden = 1, vocab = 1, padded_vocab = 1>, mesh = <tp = "
         "1, "
         "cp = 1, dp = 1, pp = 1>, batch = <micro = 1, microbatches = 1, "
         "global = 1, "
         "sequence = 1>, precision = f32, schedule = <name = \"1f1b\", chunks "
         "= 1, layers_per_stage = [1]>, optimizer = <kind = adamw, zero = 0, "
         "bucket_size = "
         "1>, target = <device = \"cpu\", isa = \"x86-64-v3\", threads = 1>>} "
         "{\n" +
         text +
         "rt.program @p stage 0 {\n"
         "  rt.bucket 0 elements 1 unpadded 1 shard 1\n" +
         params + fragments + "}\n}\n";
}

OwningOpRef<ModuleOp>
test::lowerFragments(MLIRContext &context,
                     const std::vector<RandomFunction> &functions) {
  context.loadDialect<MtcDialect, tfm::TfmDialect, dist::DistDialect,
                      pipe::PipeDialect>();
  auto module = parse(context, moduleOf(functions));
  PassManager passes(&context);
  passes.addPass(mtc::passes::createFormClusters());
  passes.addPass(mtc::passes::createOutlineKernels());
  passes.addPass(mtc::passes::createLowerCalls());
  if (!module || failed(passes.run(*module)))
    return {};
  return module;
}

OwningOpRef<ModuleOp> test::kernelsOf(rt::ProgramOp program) {
  OwningOpRef<ModuleOp> kernels =
      ModuleOp::create(UnknownLoc::get(program.getContext()));
  for (auto kernel : program.getOps<rt::KernelOp>())
    kernels->push_back(kernel.clone());
  return kernels;
}
