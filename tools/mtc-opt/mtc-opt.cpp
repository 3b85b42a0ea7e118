//===- mtc-opt.cpp - runs passes on IR, for tests and for people ----------===//

#include "compiler/register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mtc::compiler::registerDialects(registry);
  mtc::compiler::registerMtcPasses();
  mtc::compiler::registerUpstreamPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "passes of mtc\n", registry));
}
