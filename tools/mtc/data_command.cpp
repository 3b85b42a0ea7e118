//===- data_command.cpp - mtc data ----------------------------------------===//

#include "tools/data/token_files.h"
#include "tools/data/tokenize.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/data_options.h"
#include "tools/mtc/numbers.h"

#include <CLI/CLI.hpp>

#include <map>
#include <memory>

using mtc::runtime::Status;

namespace mtc::tool {
namespace {

using data::Report;
using data::Watch;

const std::map<std::string, data::OutputKind> kOutputs = {
    {"indexed", data::OutputKind::indexed},
    {"raw", data::OutputKind::raw},
    {"llmc", data::OutputKind::llmc}};

struct TokenizeCommand : DataCommand {
  data::TokenizeOptions options;
};

void addTokenize(CLI::App &data, Action &action) {
  auto command = std::make_shared<TokenizeCommand>();
  data::TokenizeOptions &options = command->options;
  CLI::App *sub =
      data.add_subcommand("tokenize", "turns texts into files of tokens");
  sub->footer(
      "examples:\n"
      "  mtc data tokenize corpus.jsonl --vocab-file vocab.json --merge-file "
      "merges.txt --append-eod --output-prefix corpus\n"
      "  mtc data tokenize *.txt --documents files --tokenizer bytes "
      "--output-prefix book --to raw");
  addFiles(*sub, options.files, "texts, in UTF-8");
  addDocuments(*sub, options.documents);
  sub->add_option("--json-keys", options.keys,
                  "of JSON lines: keys of the texts, each with an output of "
                  "its own (default text)")
      ->delimiter(',')
      ->allow_extra_args(false);
  addTokenizer(*sub, options.tokenizer);
  sub->add_flag("--append-eod", options.appendEod,
                "the token <|endoftext|> behind each document that has any; of "
                "bytes, 256");
  sub->add_option("--output-prefix", options.prefix,
                  "outputs are called PREFIX_KEY_document.bin and .idx, of "
                  "flat files PREFIX_KEY.bin; KEY is text without --json-keys")
      ->required();
  sub->add_option("--to", options.output,
                  "indexed: .bin and .idx as Megatron-LM has them; raw: tokens "
                  "and nothing else; llmc: llm.c's .bin (default indexed)")
      ->transform(CLI::CheckedTransformer(kOutputs).description(""))
      ->type_name("TEXT");
  sub->add_option("--dtype", options.type,
                  "of the tokens, such as u16 or i32 (default: u16 for less "
                  "than 65,500 tokens, else i32)");
  addWorkers(*sub, *command);
  addSpeech(*sub, *command);
  onData(*sub, action, command,
         [](TokenizeCommand &c, const Watch &w, Report &r) {
           c.options.workers = c.threads();
           return data::tokenize(c.options, w, r);
         });
}

/// What `info` and `check` look at.
void addTokenInput(CLI::App &sub, data::TokenInput &input) {
  std::map<std::string, runtime::TokenType> types;
  for (const char *name : {"u8", "u16", "i32", "u32"}) // as of mtc run
    types[name] = runtime::tokenTypeNamed(name)->type;
  sub.add_option("prefix", input.name,
                 "PREFIX of PREFIX.bin and .idx, or a flat file of tokens")
      ->required();
  sub.add_option("--data-type", input.rawType,
                 "type of the tokens of a raw file; others say theirs")
      ->transform(CLI::CheckedTransformer(types).description(""))
      ->type_name("TEXT");
}

void addInfo(CLI::App &data, Action &action) {
  struct Info : DataCommand {
    data::TokenInput input;
  };
  auto command = std::make_shared<Info>();
  CLI::App *sub = data.add_subcommand(
      "info", "says what a .bin and .idx have, after a check of the .idx, or a "
              "flat file");
  sub->footer("examples:\n"
              "  mtc data info corpus_text_document\n"
              "  mtc data info fineweb_train_000001.bin");
  addTokenInput(*sub, command->input);
  addSpeech(*sub, *command);
  onData(*sub, action, command, [](Info &c, const Watch &w, Report &r) {
    return data::describeTokens(c.input, w, r);
  });
}

void addCheck(CLI::App &data, Action &action) {
  struct Check : DataCommand {
    data::TokenInput input;
    int64_t vocab = 0;
  };
  auto command = std::make_shared<Check>();
  CLI::App *sub = data.add_subcommand(
      "check", "reads all of a .bin and .idx, or of a flat file: fields and "
               "tokens");
  sub->footer("examples:\n"
              "  mtc data check corpus_text_document --vocab-size 50257\n"
              "  mtc data check book.bin --data-type u8 --vocab-size 256");
  addTokenInput(*sub, command->input);
  addInteger(*sub, "--vocab-size", command->vocab, 1,
             "all tokens must be below it")
      ->required();
  addSpeech(*sub, *command);
  onData(*sub, action, command, [](Check &c, const Watch &w, Report &r) {
    return data::checkTokens(c.input, c.vocab, w, r);
  });
}

void addMerge(CLI::App &data, Action &action) {
  struct Merge : DataCommand {
    std::vector<std::string> prefixes;
    std::string output;
  };
  auto command = std::make_shared<Merge>();
  CLI::App *sub = data.add_subcommand(
      "merge", "writes the documents of several .bin and .idx as one");
  sub->footer("example:\n  mtc data merge a_text_document b_text_document "
              "--output-prefix ab_text_document");
  sub->add_option("prefixes", command->prefixes,
                  "PREFIX of each PREFIX.bin and .idx, in this order")
      ->required();
  sub->add_option("--output-prefix", command->output,
                  "of the .bin and .idx that are written")
      ->required();
  addSpeech(*sub, *command);
  onData(*sub, action, command, [](Merge &c, const Watch &w, Report &r) {
    return data::mergeTokens(c.prefixes, c.output, w, r);
  });
}

} // namespace

void addData(CLI::App &app, Action &action) {
  CLI::App *data = app.add_subcommand("data", "makes and looks at corpora: "
                                              "texts and tokens");
  data->require_subcommand(1);
  addTokenize(*data, action);
  addInfo(*data, action);
  addCheck(*data, action);
  addMerge(*data, action);
  addDataClean(*data, action);
  addDataFilter(*data, action);
  addDataDedup(*data, action);
}

} // namespace mtc::tool
