//===- tokenize.cpp - texts of files to files of tokens -------------------===//

#include "tools/data/tokenize.h"

#include "runtime/base/output_files.h"
#include "tools/data/in_order.h"
#include "tools/data/records.h"
#include "tools/data/unicode.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;
using mtc::runtime::TokenType;

namespace mtc::data {
namespace {

/// The tokens of one key's documents of a chunk.
struct Encoded {
  std::vector<int32_t> tokens;
  std::vector<size_t> ends; ///< of documents, in tokens
};

struct EncodedChunk {
  std::vector<Encoded> keys;
  std::string problems; ///< lines; empty: none
  int64_t bytes = 0;    ///< of the chunk
};

class Encoder {
public:
  Encoder(const TokenizeOptions &options, const Tokenizer &tokenizer,
          const TextSource &source)
      : options_(options), tokenizer_(tokenizer), source_(source),
        scratch_(options.workers) {}

  EncodedChunk encode(const TextChunk &chunk, int thread) {
    EncodedChunk out;
    out.keys.resize(options_.keys.size());
    out.bytes = static_cast<int64_t>(chunk.text.size());
    std::vector<RecordText> texts(1);
    forEachDocument(
        chunk, options_.documents, [&](const DocumentText &document) {
          std::string problem = textsOf(document, texts);
          if (!problem.empty()) {
            out.problems +=
                fmt::format("{}{}: {}", out.problems.empty() ? "" : "\n  ",
                            source_.place(chunk.file, document.line), problem);
            return;
          }
          for (size_t key = 0; key < texts.size(); ++key)
            add(texts[key].text, scratch_[thread], out.keys[key]);
        });
    return out;
  }

private:
  /// What is wrong with a document, or empty and its texts.
  std::string textsOf(const DocumentText &document,
                      std::vector<RecordText> &texts) const {
    if (options_.documents == Documents::jsonl)
      return readRecord(document.text, options_.keys, texts);
    size_t invalid = options_.tokenizer.kind == "bytes"
                         ? document.text.size()
                         : firstInvalidByte(document.text);
    if (invalid < document.text.size())
      return fmt::format("expected UTF-8, found byte 0x{:02X} as byte {} of "
                         "the document; `mtc data clean` replaces such bytes",
                         static_cast<uint8_t>(document.text[invalid]),
                         invalid + 1);
    texts[0].text = document.text;
    return "";
  }

  void add(std::string_view text, EncodeScratch &scratch, Encoded &out) const {
    size_t before = out.tokens.size();
    tokenizer_.encode(text, scratch, out.tokens);
    if (options_.appendEod && out.tokens.size() > before)
      out.tokens.push_back(tokenizer_.endOfDocument());
    out.ends.push_back(out.tokens.size());
  }

  const TokenizeOptions &options_;
  const Tokenizer &tokenizer_;
  const TextSource &source_;
  std::vector<EncodeScratch> scratch_; ///< by thread
};

struct Counts {
  int64_t documents = 0, empty = 0, tokens = 0;
};

/// Adds the documents of a chunk to the outputs, one of each key.
Status write(const EncodedChunk &chunk,
             const std::vector<std::unique_ptr<TokenOutput>> &outputs,
             Counts &counts) {
  for (size_t key = 0; key < outputs.size(); ++key) {
    const Encoded &encoded = chunk.keys[key];
    size_t begin = 0;
    for (size_t end : encoded.ends) {
      MTC_RETURN_IF_ERROR(outputs[key]->add(
          std::span(encoded.tokens).subspan(begin, end - begin)));
      counts.empty += begin == end;
      begin = end;
    }
    counts.tokens += static_cast<int64_t>(encoded.tokens.size());
  }
  counts.documents += static_cast<int64_t>(chunk.keys[0].ends.size());
  return Status::okay();
}

/// The type of the tokens in the files.
Status chooseType(const TokenizeOptions &options, int32_t vocab,
                  TokenType &out) {
  out = runtime::tokenTypeFor(vocab);
  if (options.type.empty())
    return Status::okay();
  const runtime::TokenTypeInfo *info = runtime::tokenTypeNamed(options.type);
  if (!info || info->most < vocab - 1)
    return {StatusCode::usage,
            fmt::format("--dtype: expected a type that holds {}, the largest "
                        "token, found '{}'",
                        vocab - 1, options.type)};
  out = info->type;
  return Status::okay();
}

Status createOutputs(const TokenizeOptions &options, TokenType type,
                     std::vector<std::unique_ptr<TokenOutput>> &out) {
  runtime::CommandFiles names;
  for (const std::string &file : options.files)
    names.inputs.push_back({"input", file});
  for (const std::string &key : options.keys) {
    if (key.empty() || key.find('/') != key.npos || key.find('\0') != key.npos)
      return {StatusCode::usage,
              fmt::format("--json-keys: expected names that a file can have, "
                          "found '{}'",
                          key)};
    out.emplace_back();
    MTC_RETURN_IF_ERROR(createOutput(options.output, options.prefix + "_" + key,
                                     type, out.back()));
    for (const std::string &file : out.back()->files())
      names.outputs.push_back({"--output-prefix", file});
  }
  return checkFiles(names);
}

void describe(const TokenizeOptions &options, const Tokenizer &tokenizer,
              TokenType type, const Counts &counts,
              const std::vector<std::unique_ptr<TokenOutput>> &outputs,
              Report &report) {
  report.add("documents", "documents", counts.documents);
  report.add("empty", "empty", counts.empty);
  report.add("tokens", "tokens", counts.tokens);
  report.add("vocab_size", "vocabulary", int64_t{tokenizer.vocabSize()});
  if (options.appendEod)
    report.add("eod", "end of document", int64_t{tokenizer.endOfDocument()});
  report.add("dtype", "type", std::string(infoOf(type).name));
  std::vector<std::string> written;
  for (const auto &output : outputs)
    for (const std::string &file : output->files())
      written.push_back(file);
  report.add("files", "written", std::move(written));
}

} // namespace

Status tokenize(const TokenizeOptions &options, const Watch &watch,
                Report &report) {
  std::unique_ptr<Tokenizer> tokenizer;
  MTC_RETURN_IF_ERROR(makeTokenizer(options.tokenizer, tokenizer));
  if (options.appendEod && tokenizer->endOfDocument() < 0)
    return {StatusCode::usage,
            fmt::format("--append-eod: expected a token {} in '{}', found none",
                        kEndOfDocument, options.tokenizer.vocabFile)};
  TokenType type;
  MTC_RETURN_IF_ERROR(chooseType(options, tokenizer->vocabSize(), type));
  TextSource source;
  MTC_RETURN_IF_ERROR(
      TextSource::open(options.files, options.documents, source));
  std::vector<std::unique_ptr<TokenOutput>> outputs;
  MTC_RETURN_IF_ERROR(createOutputs(options, type, outputs));

  Encoder encoder(options, *tokenizer, source);
  Meter meter("tokenize", source.bytes(), watch);
  Counts counts;
  int64_t done = 0;
  InOrder<TextChunk, EncodedChunk> order;
  order.read = [&](TextChunk &chunk, bool &more) {
    return source.next(chunk, more);
  };
  order.work = [&](TextChunk &chunk, int thread) {
    return encoder.encode(chunk, thread);
  };
  order.use = [&](EncodedChunk &chunk) -> Status {
    if (!chunk.problems.empty())
      return {StatusCode::inputRejected, chunk.problems};
    MTC_RETURN_IF_ERROR(write(chunk, outputs, counts));
    done += chunk.bytes;
    return meter.at(done, counts.tokens, "tokens");
  };
  MTC_RETURN_IF_ERROR(order.run(options.workers));
  for (const auto &output : outputs)
    MTC_RETURN_IF_ERROR(output->commit());
  describe(options, *tokenizer, type, counts, outputs, report);
  report.add("seconds", "", meter.seconds());
  return Status::okay();
}

} // namespace mtc::data
