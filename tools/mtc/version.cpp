//===- version.cpp - what this build of mtc is ----------------------------===//

#include "tools/mtc/version.h"

#include "models/target.h"
#include "mtc/runtime/abi.h"
#include "mtc/runtime/isa.h"

#include "llvm/Config/llvm-config.h"

#include <fmt/format.h>

namespace mtc::tool {
namespace {

/// What --target takes.
std::string targets() {
  return fmt::format("{}", fmt::join(models::allTargets(), ", "));
}

} // namespace

std::string versionName() { return "mtc " MTC_VERSION; }

std::string versionText() {
  return fmt::format("{}\n"
                     "MLIR and LLVM  {}\n"
                     "oneDNN         {}\n"
                     "targets        {}\n"
                     "processors     {}\n"
                     "programs       abi {}\n"
                     "built          {}, {}",
                     versionName(), LLVM_VERSION_STRING, mtc_gemm_library(),
                     targets(), runtime::isaNames(), MTC_ABI_VERSION,
                     MTC_BUILD_TYPE, MTC_BUILD_COMPILER);
}

} // namespace mtc::tool
