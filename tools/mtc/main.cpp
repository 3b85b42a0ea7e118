//===- main.cpp - the mtc command -----------------------------------------===//

#include "compiler/interrupt.h"
#include "tools/mtc/command_line.h"
#include "tools/mtc/last_words.h"
#include "tools/mtc/version.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdio>

static void llvmNoMemory(void *, const char *, bool) { mtc::tool::noMemory(); }

static void llvmFailed(void *, const char *reason, bool) {
  char text[512];
  std::snprintf(text, sizeof text, "error: LLVM cannot go on: %s\n", reason);
  mtc::compiler::endProcess(text, mtc::runtime::StatusCode::failed);
}

int main(int argc, char **argv) {
  using namespace mtc::tool;
  installLastWords();
  llvm::install_bad_alloc_error_handler(llvmNoMemory);
  llvm::install_fatal_error_handler(llvmFailed);
  return runCommandLine(
      argc, argv,
      {"mtc: compiles and trains transformers in parallel",
       versionText,
       {addCompile, addLint, addRun, addInspect, addDiff, addCheckpoint,
        addData, addExplain, addDoctor, addFlight, addProfile, addSchedule,
        addTune, addPlot, addHelp, addPages}});
}
