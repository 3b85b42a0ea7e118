//===- node_main.cpp - the mtc-node command -------------------------------===//
//
// What a node of a cluster needs: all of mtc that does not compile, without
// MLIR and LLVM.
//
//===----------------------------------------------------------------------===//
#include "mtc/runtime/abi.h"
#include "mtc/runtime/isa.h"
#include "tools/mtc/command_line.h"
#include "tools/mtc/last_words.h"

#include <fmt/format.h>

static std::string versionText() {
  return fmt::format("mtc-node " MTC_VERSION "\n"
                     "oneDNN      {}\n"
                     "processors  {}\n"
                     "programs    abi {}",
                     mtc_gemm_library(), mtc::runtime::isaNames(),
                     MTC_ABI_VERSION);
}

int main(int argc, char **argv) {
  using namespace mtc::tool;
  installLastWords();
  return runCommandLine(
      argc, argv,
      {"mtc-node: trains what mtc compiled, on machines without the compiler",
       versionText,
       {addRun, addInspect, addDiff, addCheckpoint, addData, addExplain,
        addDoctor, addTune, addFlight, addProfile, addPlot}});
}
