//===- data_options.h - options that actions of mtc data share --*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_DATA_OPTIONS_H
#define MTC_TOOLS_MTC_DATA_OPTIONS_H

#include "tools/data/documents.h"
#include "tools/data/meter.h"
#include "tools/data/report.h"
#include "tools/data/tokenizer.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mtc::tool {

/// How an action speaks, and how many threads it has.
struct DataCommand {
  bool json = false, quiet = false;
  std::string progress;
  int64_t workers = 0; ///< 0: one for each processor

  int threads() const;
};

/// Adds --json, --quiet and --progress.
void addSpeech(CLI::App &sub, DataCommand &command);
void addWorkers(CLI::App &sub, DataCommand &command);
/// Adds the positional "files".
void addFiles(CLI::App &sub, std::vector<std::string> &files,
              const std::string &what);
void addDocuments(CLI::App &sub, data::Documents &documents);
/// Adds --tokenizer, --vocab-file and --merge-file.
void addTokenizer(CLI::App &sub, data::TokenizerChoice &choice);

/// The actions on texts, each a subcommand of `data`.
void addDataClean(CLI::App &data, Action &action);
void addDataFilter(CLI::App &data, Action &action);
void addDataDedup(CLI::App &data, Action &action);

/// Runs an action: progress on standard error, its report on standard output,
/// and a polite end by signals.
runtime::Status runDataAction(
    const DataCommand &command,
    const std::function<runtime::Status(const data::Watch &, data::Report &)>
        &run);

/// What happens when `sub` is given: `run(*command, watch, report)`.
template <typename Command, typename Run>
void onData(CLI::App &sub, Action &action, std::shared_ptr<Command> command,
            Run run) {
  sub.callback([command, run, &action] {
    action = [command, run] {
      return runDataAction(*command,
                           [&](const data::Watch &watch, data::Report &report) {
                             return run(*command, watch, report);
                           });
    };
  });
}

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_DATA_OPTIONS_H
