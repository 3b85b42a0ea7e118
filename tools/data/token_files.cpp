//===- token_files.cpp - looks at files of tokens, and joins them ---------===//

#include "tools/data/token_files.h"

#include "runtime/base/number_text.h"
#include "runtime/base/output_files.h"
#include "runtime/data/flat_file.h"
#include "runtime/data/indexed_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

using mtc::runtime::BadTokens;
using mtc::runtime::IndexedDataset;
using mtc::runtime::IndexedSummary;
using mtc::runtime::IndexedWriter;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

constexpr int64_t kBlockTokens = int64_t{1} << 20;

std::string prefixOf(const std::string &name) {
  bool isFile = name.ends_with(".idx") || name.ends_with(".bin");
  return isFile && !IndexedDataset::isThere(name)
             ? name.substr(0, name.size() - 4)
             : name;
}

/// Opens a corpus and checks its .idx.
Status openChecked(const std::string &name, bool wantsLengths,
                   const Watch &watch, IndexedDataset &corpus,
                   IndexedSummary &summary) {
  MTC_RETURN_IF_ERROR(IndexedDataset::open(prefixOf(name), corpus));
  auto goesOn = [&](double) { return !watch.stop || !watch.stop->load(); };
  return corpus.check(summary, wantsLengths, goesOn);
}

void addSizes(const IndexedDataset &corpus, const IndexedSummary &summary,
              Report &report) {
  report.add("documents", "documents", corpus.documents());
  report.add("sequences", "sequences", corpus.sequences());
  report.add("tokens", "tokens", summary.tokens);
  report.add("dtype", "type", std::string(infoOf(corpus.type()).name));
  report.add("bytes", "", summary.tokens * corpus.tokenBytes());
}

/// Order statistics, the lower one of two.
void addLengths(std::vector<int32_t> lengths, int64_t tokens, Report &report) {
  if (lengths.empty())
    return;
  std::sort(lengths.begin(), lengths.end());
  auto at = [&](double part) {
    return int64_t{lengths[static_cast<size_t>(
        part * static_cast<double>(lengths.size() - 1))]};
  };
  report.add("length_least", "shortest", at(0));
  report.add("length_mean", "mean length",
             static_cast<double>(tokens) / static_cast<double>(lengths.size()));
  report.add("length_median", "median length", at(0.5));
  report.add("length_p90", "90 % are up to", at(0.9));
  report.add("length_most", "longest", at(1));
  auto empty = std::upper_bound(lengths.begin(), lengths.end(), 0);
  report.add("length_zero", "empty sequences",
             int64_t{empty - lengths.begin()});
}

bool isFlat(const std::string &name) {
  std::error_code none;
  return !IndexedDataset::isThere(prefixOf(name)) &&
         std::filesystem::is_regular_file(name, none);
}

Status openFlat(const TokenInput &input, runtime::FlatTokens &tokens) {
  auto type = input.rawType.value_or(runtime::TokenType::u8);
  MTC_RETURN_IF_ERROR(runtime::lookAtFlatFile(input.name, type, tokens));
  if (input.rawType || tokens.firstByte > 0)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("'{}': expected a corpus of .bin and .idx, or llm.c's "
                      "header; of a raw file of tokens, --data-type says their "
                      "type",
                      input.name)};
}

void addSizes(const runtime::FlatTokens &tokens, Report &report) {
  report.add("header", "header",
             std::string(tokens.firstByte > 0 ? "llm.c" : "none"));
  report.add("tokens", "tokens", tokens.count);
  report.add("dtype", "type", std::string(infoOf(tokens.type).name));
  report.add("bytes", "", tokens.count * tokens.tokenBytes());
}

/// Tokens that lie in a row.
struct TokenRow {
  std::string file;
  runtime::TokenType type;
  int64_t count;
};

/// `read(first, count, out)` gives tokens as they are in the file.
template <typename Read>
Status checkRow(const TokenRow &row, int64_t vocab, const Watch &watch,
                const Read &read) {
  int64_t size = infoOf(row.type).bytes;
  Meter meter("check", row.count * size, watch);
  std::vector<std::byte> block(static_cast<size_t>(kBlockTokens * size));
  BadTokens bad;
  for (int64_t at = 0; at < row.count; at += kBlockTokens) {
    int64_t count = std::min(kBlockTokens, row.count - at);
    MTC_RETURN_IF_ERROR(read(at, count, block.data()));
    runtime::findBadTokens(row.type, block.data(), count, vocab, at, bad);
    MTC_RETURN_IF_ERROR(meter.at((at + count) * size, at + count, "tokens"));
  }
  if (bad.count == 0)
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("{}: expected tokens from 0 to {}, found {} others, "
                      "the first at position {}: {}",
                      row.file, vocab - 1, runtime::grouped(bad.count),
                      bad.position, bad.value)};
}

Status checkFlat(const TokenInput &input, int64_t vocab, const Watch &watch,
                 Report &report) {
  runtime::FlatTokens tokens;
  runtime::InputFile file;
  MTC_RETURN_IF_ERROR(openFlat(input, tokens));
  MTC_RETURN_IF_ERROR(runtime::InputFile::open(tokens.path, file));
  int64_t size = tokens.tokenBytes();
  MTC_RETURN_IF_ERROR(checkRow(
      {tokens.path, tokens.type, tokens.count}, vocab, watch,
      [&](int64_t first, int64_t count, std::byte *out) {
        return file.read(tokens.firstByte + first * size, out, count * size);
      }));
  report.add("file", "whole", tokens.path);
  addSizes(tokens, report);
  report.add("vocab_size", "vocabulary", vocab);
  return Status::okay();
}

} // namespace

Status describeTokens(const TokenInput &input, const Watch &watch,
                      Report &report) {
  if (isFlat(input.name)) {
    runtime::FlatTokens tokens;
    MTC_RETURN_IF_ERROR(openFlat(input, tokens));
    report.add("file", "flat file", tokens.path);
    addSizes(tokens, report);
    return Status::okay();
  }
  IndexedDataset corpus;
  IndexedSummary summary;
  MTC_RETURN_IF_ERROR(
      openChecked(input.name, /*wantsLengths=*/true, watch, corpus, summary));
  report.add("prefix", "corpus", corpus.prefix());
  addSizes(corpus, summary, report);
  addLengths(std::move(summary.lengths), summary.tokens, report);
  report.add("modes", "", int64_t{corpus.hasModes()});
  return Status::okay();
}

Status checkTokens(const TokenInput &input, int64_t vocab, const Watch &watch,
                   Report &report) {
  if (isFlat(input.name))
    return checkFlat(input, vocab, watch, report);
  IndexedDataset corpus;
  IndexedSummary summary;
  MTC_RETURN_IF_ERROR(
      openChecked(input.name, /*wantsLengths=*/false, watch, corpus, summary));
  MTC_RETURN_IF_ERROR(
      checkRow({corpus.tokenFile(), corpus.type(), summary.tokens}, vocab,
               watch, [&](int64_t first, int64_t count, std::byte *out) {
                 return corpus.tokenBytes(first, count, out);
               }));
  report.add("prefix", "whole", corpus.prefix());
  addSizes(corpus, summary, report);
  report.add("vocab_size", "vocabulary", vocab);
  return Status::okay();
}

Status mergeTokens(const std::vector<std::string> &prefixes,
                   const std::string &output, const Watch &watch,
                   Report &report) {
  std::vector<IndexedDataset> corpora(prefixes.size());
  runtime::CommandFiles names;
  int64_t bytes = 0, done = 0;
  for (size_t i = 0; i < prefixes.size(); ++i) {
    MTC_RETURN_IF_ERROR(
        IndexedDataset::open(prefixOf(prefixes[i]), corpora[i]));
    names.inputs.push_back({"input", corpora[i].indexFile()});
    names.inputs.push_back({"input", corpora[i].tokenFile()});
    bytes += corpora[i].tokens() * corpora[i].tokenBytes();
  }
  names.outputs = {{"--output-prefix", output + ".idx"},
                   {"--output-prefix", output + ".bin"}};
  MTC_RETURN_IF_ERROR(checkFiles(names));
  IndexedWriter writer;
  MTC_RETURN_IF_ERROR(IndexedWriter::create(output, corpora[0].type(), writer));
  Meter meter("merge", bytes, watch);
  for (const IndexedDataset &corpus : corpora) {
    MTC_RETURN_IF_ERROR(writer.append(corpus));
    done += corpus.tokens() * corpus.tokenBytes();
    MTC_RETURN_IF_ERROR(meter.at(done));
  }
  MTC_RETURN_IF_ERROR(writer.commit());
  report.add("corpora", "corpora", static_cast<int64_t>(corpora.size()));
  report.add("documents", "documents", writer.documents());
  report.add("sequences", "sequences", writer.sequences());
  report.add("tokens", "tokens", writer.tokens());
  report.add("dtype", "type", std::string(infoOf(corpora[0].type()).name));
  report.add("files", "written",
             std::vector<std::string>{output + ".bin", output + ".idx"});
  return Status::okay();
}

} // namespace mtc::data
