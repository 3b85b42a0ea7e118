//===- kernel_sets.cpp - which kernels a program is linked with -----------===//

#include "compiler/kernel_sets.h"

#include "mtc/runtime/descriptor_fields.h"
#include "mtc/runtime/gpu_texts.h"
#include "passes/target/attention_call.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mtc::compiler {

using Names = std::set<std::string>;

static Names kernelSetsOf(const PlanConfig &config,
                          const ProgramPlan &program) {
  std::string isa = config.isa;
  std::replace(isa.begin(), isa.end(), '-', '_');
  Names names = {fmt::format("mtc_kernels_{}", isa),
                 fmt::format("mtc_products_{}_{}", isa, config.dtype)};
  for (const PlanFragment &fragment : program.fragments)
    for (const PlanCalls &calls : fragment.calls)
      if (calls.op == "attention") // whose type is as MLIR writes it
        names.insert(
            fmt::format("mtc_products_{}_{}", isa,
                        calls.factors == "f16" ? "fp16" : calls.factors));
  for (const runtime::GemmInfo &product : program.descriptor.gemms)
    names.insert(
        fmt::format("mtc_products_{}_{}", isa, runtime::dtypeName(product.ab)));
  return names;
}

static Names ptxTextsOf(rt::ProgramOp op, const ProgramPlan &program) {
  Names names = {std::string(cuda::kNormText)};
  for (const runtime::GemmInfo &product : program.descriptor.gemms)
    names.insert(cuda::gemmText(product.ab));
  op.walk([&](rt::AttentionOp attention) {
    const MtcAttention call = target::attentionCall(attention);
    for (const codegen::GpuCode &code : program.gpu.code)
      names.insert(cuda::attentionText(call, code.chip));
  });
  Names symbols;
  for (const std::string &name : names)
    symbols.insert("mtc_gpu_text_" + name);
  return symbols;
}

RuntimeKernels runtimeKernelsOf(const PlanConfig &config, rt::ProgramOp op,
                                const ProgramPlan &program) {
  const bool isForGpu = config.isForGpu();
  const Names sets = isForGpu ? Names() : kernelSetsOf(config, program);
  const Names texts = isForGpu ? ptxTextsOf(op, program) : Names();
  return {{sets.begin(), sets.end()}, {texts.begin(), texts.end()}};
}

} // namespace mtc::compiler
