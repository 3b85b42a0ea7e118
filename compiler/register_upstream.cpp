//===- register_upstream.cpp - what MLIR itself offers --------------------===//
//
// Apart, because nothing else needs these headers.
//
//===----------------------------------------------------------------------===//

#include "compiler/register.h"

#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "dialects/tfm/Tfm.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

namespace mtc::compiler {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<tfm::TfmDialect, dist::DistDialect, pipe::PipeDialect,
                  rt::RtDialect>();
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
}

void registerUpstreamPasses() { mlir::registerAllPasses(); }

} // namespace mtc::compiler
