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

static std::vector<std::string> listOf(const Names &names) {
  return {names.begin(), names.end()};
}

static Names kernelSetsOf(const PlanConfig &config,
                          llvm::ArrayRef<MtcAttention> attention,
                          const ProgramPlan &program) {
  std::string isa = config.isa;
  std::replace(isa.begin(), isa.end(), '-', '_');
  Names names = {fmt::format("mtc_kernels_{}", isa),
                 fmt::format("mtc_products_{}_{}", isa, config.dtype)};
  auto add = [&](int64_t type) {
    names.insert(fmt::format("mtc_products_{}_{}", isa,
                             runtime::dtypeName(static_cast<MtcDtype>(type))));
  };
  for (const MtcAttention &call : attention)
    add(call.dtype);
  for (const runtime::GemmInfo &product : program.descriptor.gemms)
    add(product.ab);
  return names;
}

static Names ptxTextsOf(llvm::ArrayRef<MtcAttention> attention,
                        const ProgramPlan &program) {
  Names names = {std::string(cuda::kNormText)};
  for (const runtime::GemmInfo &product : program.descriptor.gemms)
    names.insert(cuda::gemmText(product.ab));
  for (const MtcAttention &call : attention)
    for (const codegen::GpuCode &code : program.gpu.code)
      names.insert(cuda::attentionText(call, code.chip));
  Names symbols;
  for (const std::string &name : names)
    symbols.insert("mtc_gpu_text_" + name);
  return symbols;
}

RuntimeKernels runtimeKernelsOf(const PlanConfig &config, rt::ProgramOp op,
                                const ProgramPlan &program) {
  std::vector<MtcAttention> attention;
  op.walk([&](rt::AttentionOp call) {
    attention.push_back(target::attentionCall(call));
  });
  RuntimeKernels kernels;
  if (config.isForGpu())
    kernels.texts = listOf(ptxTextsOf(attention, program));
  else
    kernels.sets = listOf(kernelSetsOf(config, attention, program));
  return kernels;
}

} // namespace mtc::compiler
