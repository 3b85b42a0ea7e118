//===- print_ir.cpp - IR for people to read -------------------------------===//

#include "compiler/print_ir.h"

#include "compiler/locations.h"
#include "compiler/output_folder.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

bool printsAfter(const CompileOptions &options, Phase phase) {
  return std::ranges::find(options.printAfter, phase) !=
         options.printAfter.end();
}

/// Takes " loc(unknown)" out of IR, which the printer writes where nothing is
/// known. A quote inside of a string is printed as a number.
void removeUnknown(std::string &text) {
  constexpr std::string_view unknown = " loc(unknown)";
  size_t end = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size();) {
    if (!quoted && std::string_view(text).substr(i).starts_with(unknown)) {
      i += unknown.size();
      continue;
    }
    quoted ^= text[i] == '"';
    text[end++] = text[i++];
  }
  text.resize(end);
}

} // namespace

std::string printModule(mlir::ModuleOp module) {
  WrittenLocations written(module);
  std::string text;
  llvm::raw_string_ostream out(text);
  // Local scope: a name beside its op, not behind a number at the end.
  module.print(out, mlir::OpPrintingFlags().enableDebugInfo().useLocalScope());
  removeUnknown(text);
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
  std::string name =
      fmt::format("{}/{}{}.mlir", options.saveIR, phaseFileName(phase),
                  whole ? "" : fmt::format("-stage{}", stage));
  // What was read from there stays as somebody wrote it.
  std::error_code error;
  if (std::filesystem::equivalent(name, options.input, error))
    return Status::okay();
  return writeFile(name, text);
}

} // namespace mtc::compiler
