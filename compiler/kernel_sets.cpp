//===- kernel_sets.cpp - which kernels a program is linked with -----------===//

#include "compiler/kernel_sets.h"

#include "mtc/runtime/descriptor_fields.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mtc::compiler {

std::vector<std::string> kernelSetsOf(const PlanConfig &config,
                                      const ProgramPlan &program) {
  if (config.isForGpu())
    return {};
  std::string isa = config.isa;
  std::replace(isa.begin(), isa.end(), '-', '_');
  std::set<std::string> names = {
      fmt::format("mtc_kernels_{}", isa),
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
  return {names.begin(), names.end()};
}

} // namespace mtc::compiler
