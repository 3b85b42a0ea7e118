//===- main.cpp - the mtc command -----------------------------------------===//

#include "tools/mtc/command_line.h"
#include "tools/mtc/last_words.h"
#include "tools/mtc/version.h"

int main(int argc, char **argv) {
  using namespace mtc::tool;
  installLastWords();
  return runCommandLine(argc, argv,
                        {"mtc: compiles and trains transformers in parallel",
                         versionText,
                         {addCompile, addLint, addRun, addInspect, addDiff,
                          addCheckpoint, addData, addExplain, addDoctor,
                          addFlight, addSchedule, addPlot, addHelp, addPages}});
}
