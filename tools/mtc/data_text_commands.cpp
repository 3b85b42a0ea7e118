//===- data_text_commands.cpp - mtc data clean, filter, dedup -------------===//

#include "tools/data/clean.h"
#include "tools/data/dedup.h"
#include "tools/data/filter.h"
#include "tools/mtc/data_options.h"
#include "tools/mtc/numbers.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

namespace mtc::tool {
namespace {

using data::Report;
using data::Watch;

/// Options of actions from texts to JSON lines.
void addTexts(CLI::App &sub, data::TextOptions &texts, std::string &output,
              DataCommand &command) {
  addFiles(sub, texts.files, "texts, in UTF-8");
  addDocuments(sub, texts.documents);
  sub.add_option("--json-key", texts.key,
                 "of JSON lines: the key of the text (default text)");
  sub.add_option("-o,--output", output,
                 "the JSON lines that stay; without it only the report");
  addWorkers(sub, command);
  addSpeech(sub, command);
}

} // namespace

void addDataClean(CLI::App &data, Action &action) {
  struct Clean : DataCommand {
    data::TextOptions texts;
    std::string output;
  };
  auto command = std::make_shared<Clean>();
  CLI::App *sub = data.add_subcommand(
      "clean", "repairs bytes that are no UTF-8, line breaks, escapes of "
               "terminals, control characters and white space");
  sub->footer("example:\n  mtc data clean crawl.jsonl -o clean.jsonl");
  addTexts(*sub, command->texts, command->output, *command);
  onData(*sub, action, command, [](Clean &c, const Watch &w, Report &r) {
    c.texts.workers = c.threads();
    return data::cleanCorpus(c.texts, c.output, w, r);
  });
}

void addDataFilter(CLI::App &data, Action &action) {
  struct Filter : DataCommand {
    data::FilterOptions options;
  };
  auto command = std::make_shared<Filter>();
  data::FilterOptions &options = command->options;
  CLI::App *sub = data.add_subcommand(
      "filter", "leaves out short documents, and those that share runs of "
                "words with texts of tasks");
  sub->footer("examples:\n"
              "  mtc data filter clean.jsonl --vocab-file vocab.json "
              "--merge-file merges.txt -o long.jsonl\n"
              "  mtc data filter long.jsonl --min-tokens 0 --ngrams-of "
              "wikitext-test.jsonl --ngram 8");
  addTexts(*sub, options.texts, options.output, *command);
  addInteger(*sub, "--min-tokens", options.minTokens, 0,
             "documents of fewer tokens are left out (default 128); 0: none "
             "for that, and no tokenizer is needed");
  addTokenizer(*sub, options.tokenizer);
  sub->add_option("--ngrams-of", options.tasks,
                  "JSON lines of tasks: documents that share a run of words "
                  "with one of their texts are left out")
      ->allow_extra_args(false);
  addInteger(*sub, "--ngram", options.ngram, 1,
             "words of such a run (default 13)");
  onData(*sub, action, command, [](Filter &c, const Watch &w, Report &r) {
    c.options.texts.workers = c.threads();
    return data::filterCorpus(c.options, w, r);
  });
}

void addDataDedup(CLI::App &data, Action &action) {
  struct Dedup : DataCommand {
    data::DedupOptions options;
    std::optional<double> threshold;
  };
  auto command = std::make_shared<Dedup>();
  data::DedupOptions &options = command->options;
  CLI::App *sub = data.add_subcommand(
      "dedup", "leaves near-duplicates out: of those whose shingles agree, the "
               "first stays");
  sub->footer("example:\n  mtc data dedup long.jsonl -o unique.jsonl --pairs "
              "duplicates.jsonl");
  addTexts(*sub, options.texts, options.output, *command);
  sub->add_option("--pairs", options.pairs,
                  "a JSON line for each document that is left out: which other "
                  "one it is near, and their index");
  addNumber(*sub, "--threshold", command->threshold, {},
            "Jaccard index of shingles from which two documents are one "
            "(default 0.7)");
  addInteger(*sub, "--shingle", options.shingle, 1,
             "characters of a shingle (default 5)");
  addInteger(*sub, "--seed", options.seed, 0, "of MinHash (default 1)");
  onData(*sub, action, command, [](Dedup &c, const Watch &w, Report &r) {
    c.options.texts.workers = c.threads();
    c.options.threshold = c.threshold.value_or(c.options.threshold);
    return data::dedupCorpus(c.options, w, r);
  });
}

} // namespace mtc::tool
