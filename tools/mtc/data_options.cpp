//===- data_options.cpp - options that actions of mtc data share ----------===//

#include "tools/mtc/data_options.h"

#include "runtime/control/signals.h"
#include "tools/mtc/numbers.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <thread>
#include <unistd.h>

using mtc::runtime::Status;

namespace mtc::tool {
namespace {

const std::map<std::string, data::Documents> kDocuments = {
    {"jsonl", data::Documents::jsonl},
    {"lines", data::Documents::lines},
    {"paragraphs", data::Documents::paragraphs},
    {"files", data::Documents::files}};

/// Where progress goes, and how.
data::Watch watchOf(const DataCommand &command, const std::atomic<bool> &stop) {
  data::Watch watch;
  watch.stop = &stop;
  if (command.quiet || command.progress == "none")
    return watch;
  watch.progressFd = STDERR_FILENO;
  watch.rewrites = command.progress == "bar" ||
                   (command.progress.empty() && isatty(STDERR_FILENO));
  return watch;
}

} // namespace

int DataCommand::threads() const {
  int64_t most = 256;
  int64_t asked =
      workers > 0 ? workers : int64_t{std::thread::hardware_concurrency()};
  return static_cast<int>(std::clamp<int64_t>(asked, 1, most));
}

void addSpeech(CLI::App &sub, DataCommand &command) {
  sub.add_flag("--json", command.json, "the report as JSON, one line");
  sub.add_option("--progress", command.progress,
                 "bar, plain or none; a bar if standard error is a terminal")
      ->check(CLI::IsMember({"bar", "plain", "none"}));
  sub.add_flag("-q,--quiet", command.quiet, "no progress");
}

void addWorkers(CLI::App &sub, DataCommand &command) {
  addInteger(sub, "--workers", command.workers, 1,
             "threads (default: one for each processor); the output does not "
             "depend on it");
}

void addFiles(CLI::App &sub, std::vector<std::string> &files,
              const std::string &what) {
  sub.add_option("files", files, what)->required();
}

void addDocuments(CLI::App &sub, data::Documents &documents) {
  sub.add_option("--documents", documents,
                 "what a document is: jsonl, the object of a line; lines; "
                 "paragraphs, lines between blank ones; files (default jsonl)")
      ->transform(CLI::CheckedTransformer(kDocuments).description(""))
      ->type_name("TEXT");
}

void addTokenizer(CLI::App &sub, data::TokenizerChoice &choice) {
  sub.add_option("--tokenizer", choice.kind,
                 "gpt2: GPT-2's byte-level BPE, of the two files; bytes: the "
                 "bytes themselves (default gpt2)")
      ->check(CLI::IsMember({"gpt2", "bytes"}));
  sub.add_option("--vocab-file", choice.vocabFile,
                 "vocab.json: tokens and their ids");
  sub.add_option("--merge-file", choice.mergeFile,
                 "merges.txt: pairs that become one token");
}

Status runDataAction(
    const DataCommand &command,
    const std::function<Status(const data::Watch &, data::Report &)> &run) {
  runtime::SignalWatch signals(/*once=*/true);
  data::Report report;
  MTC_RETURN_IF_ERROR(run(watchOf(command, signals.stop()), report));
  std::string text = command.json ? report.json() : report.text();
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::okay();
}

} // namespace mtc::tool
