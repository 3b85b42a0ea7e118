//===- compile.h - spec and strategy to a bundle ----------------*- C++ -*-===//
//
// The driver. All options are in one struct, which is validated once; errors
// come back as a Status with the tool's exit code.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_COMPILE_H
#define MTC_COMPILER_COMPILE_H

#include "models/strategy.h"
#include "passes/phases.h"
#include "runtime/base/status.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace mtc::compiler {

using passes::Phase;
class LinkHelpers;

struct CompileOptions {
  /// A spec (path or name), or IR: a path that ends in ".mlir", or "-" for
  /// standard input.
  std::string input;
  std::string strategyFile;                     ///< empty: all defaults
  std::vector<models::StrategyOption> strategy; ///< options over the file
  /// "model.layers=4", "strategy.tp=2": over the keys of the files.
  std::vector<std::string> settings;
  std::string isa;           ///< one of runtime::kIsas; empty: the best of this
                             ///< machine for the dtype
  std::optional<Phase> from; ///< IR input: the phase whose result it is
  std::optional<Phase> to;   ///< stop after it and write IR to `output`
  /// The bundle; with `to`: a file, empty for stdout, or for a GPU the folder
  /// of its kernels.
  std::string output;
  std::string saveIR;            ///< folder for one file per phase; empty: none
  std::vector<Phase> printAfter; ///< phases whose results go to stderr
  bool timing = false;           ///< where the time went, to stderr at the end
  int threads = 2;               ///< stages compiled at a time
  /// False: the phases named verify-* do not run, and the report says so. IR of
  /// one of them counts as an edit: it is verified again, too.
  bool verify = true;
  /// MLIR's verifier looks behind each pass, as always where the input is IR.
  bool verifyEach = false;
  /// Code for GPUs is assembled by ptxas, too, and programs have its cubins.
  bool cubin = false;
  /// Link beside other work; null: programs are linked in this process, one
  /// after the other, when all objects are there.
  LinkHelpers *linkHelpers = nullptr;
  /// Lines on long work, for people; may be empty.
  std::function<void(const std::string &)> progress;

  bool startsFromIR() const { return input == "-" || input.ends_with(".mlir"); }
  /// The input's name in messages.
  std::string inputName() const { return input == "-" ? "<stdin>" : input; }
};

/// What the compiler worked on; nothing to be asked.
struct CompiledIR;

struct CompileResult {
  nlohmann::ordered_json report; ///< null when stopped before link
  std::string reportText;
  double seconds = 0; ///< wall-clock
  /// Who ends the process keeps it: to give back the IR of a large plan, op by
  /// op, takes a while.
  std::shared_ptr<CompiledIR> ir;
};

/// Compiles. Errors: usage (options), all of spec and strategy together
/// (usage, inputRejected or infeasible), and those of the phases.
runtime::Status compile(const CompileOptions &options, CompileResult &result);

} // namespace mtc::compiler
#endif // MTC_COMPILER_COMPILE_H
