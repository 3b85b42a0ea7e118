//===- print_ir.cpp - IR for people to read -------------------------------===//

#include "compiler/print_ir.h"

#include "compiler/output_folder.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

bool printsAfter(const CompileOptions &options, Phase phase) {
  return std::ranges::find(options.printAfter, phase) !=
         options.printAfter.end();
}

} // namespace

std::string printModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

bool wantsResult(const CompileOptions &options, Phase phase) {
  return !options.saveIR.empty() || printsAfter(options, phase);
}

Status showResult(const CompileOptions &options, Phase phase,
                  const std::string &text, int64_t stage) {
  bool whole = stage < 0;
  if (printsAfter(options, phase)) // the form of MLIR's own dumps
    fmt::print(stderr, "// -----// IR Dump After {}{} //----- //\n{}\n",
               toString(phase), whole ? "" : fmt::format(" of stage {}", stage),
               text);
  if (options.saveIR.empty())
    return Status::okay();
  return writeFile(fmt::format("{}/{}{}.mlir", options.saveIR,
                               phaseFileName(phase),
                               whole ? "" : fmt::format("-stage{}", stage)),
                   text);
}

} // namespace mtc::compiler
