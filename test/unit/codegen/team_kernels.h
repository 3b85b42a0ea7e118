//===- team_kernels.h - the kernels of gpt2-nano ----------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_TEAM_KERNELS_H
#define MTC_TEST_UNIT_CODEGEN_TEAM_KERNELS_H

#include "harness.h"

#include <fstream>
#include <sstream>

namespace mtc::test {

/// Of a training step in f32 and in bf16, as kernels/ has them; null, after a
/// diagnostic, if it has not.
inline mlir::OwningOpRef<mlir::ModuleOp>
teamKernels(mlir::MLIRContext &context) {
  std::stringstream text;
  for (const char *name : {"/team_f32.mlir", "/team_bf16.mlir"})
    text << std::ifstream(std::string(MTC_CODEGEN_KERNELS) + name).rdbuf();
  return parse(context, text.str());
}

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_TEAM_KERNELS_H
