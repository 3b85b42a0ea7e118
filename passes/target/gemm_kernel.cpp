//===- gemm_kernel.cpp - what computes a product --------------------------===//
#include "passes/target/gemm_kernel.h"

#include "dialects/mtc/Mtc.h"

using namespace mlir;

namespace mtc::target {

std::optional<rt::GemmKernel> gemmKernel(rt::GemmOp op) {
  FailureOr<ConfigAttr> config = configOf(op->getParentOfType<ModuleOp>());
  if (failed(config) || config->getTarget().getGemm() != GemmChoice::Own)
    return std::nullopt;
  return rt::GemmKernel::Own;
}

} // namespace mtc::target
