//===- tokenizer.cpp - texts to tokens ------------------------------------===//

#include "tools/data/tokenizer.h"

#include "tools/data/split_words.h"
#include "tools/data/vocabulary.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

class ByteTokenizer final : public Tokenizer {
public:
  void encode(std::string_view text, EncodeScratch &,
              std::vector<int32_t> &out) const override {
    out.reserve(out.size() + text.size());
    for (char c : text)
      out.push_back(static_cast<uint8_t>(c));
  }
  std::string bytes(int32_t id) const override {
    return id < 256 ? std::string(1, static_cast<char>(id)) : kEndOfDocument;
  }
  int32_t vocabSize() const override { return 257; }
  int32_t endOfDocument() const override { return 256; }
};

class BytePairTokenizer final : public Tokenizer {
public:
  BytePairTokenizer(Vocabulary tokens, std::vector<Merge> merges)
      : tokens_(std::move(tokens)), pairs_(tokens_, std::move(merges)),
        endOfDocument_(tokens_.idOf(kEndOfDocument)) {}

  void encode(std::string_view text, EncodeScratch &scratch,
              std::vector<int32_t> &out) const override {
    for (size_t at = 0; at < text.size();) {
      size_t end = wordEnd(text, at);
      encodeWord(text.substr(at, end - at), scratch, out);
      at = end;
    }
  }
  std::string bytes(int32_t id) const override { return tokens_.bytes(id); }
  int32_t vocabSize() const override { return tokens_.size(); }
  int32_t endOfDocument() const override { return endOfDocument_; }

private:
  void encodeWord(std::string_view word, EncodeScratch &scratch,
                  std::vector<int32_t> &out) const {
    if (!WordCache::takes(word))
      return pairs_.merge(word, scratch.merge, out);
    std::span<const int32_t> known = scratch.words.find(word);
    if (!known.empty()) {
      out.insert(out.end(), known.begin(), known.end());
      return;
    }
    size_t before = out.size();
    pairs_.merge(word, scratch.merge, out);
    scratch.words.put(word, std::span(out).subspan(before));
  }

  Vocabulary tokens_;
  BytePairs pairs_;
  int32_t endOfDocument_;
};

} // namespace

Status makeTokenizer(const TokenizerChoice &choice,
                     std::unique_ptr<Tokenizer> &out) {
  bool anyFile = !choice.vocabFile.empty() || !choice.mergeFile.empty();
  if (choice.kind == "bytes") {
    if (anyFile)
      return {StatusCode::usage,
              "--tokenizer bytes: expected no --vocab-file and --merge-file"};
    out = std::make_unique<ByteTokenizer>();
    return Status::okay();
  }
  if (choice.kind != "gpt2")
    return {StatusCode::usage,
            fmt::format("--tokenizer: expected bytes or gpt2, found '{}'",
                        choice.kind)};
  if (choice.vocabFile.empty() || choice.mergeFile.empty())
    return {StatusCode::usage, "--tokenizer gpt2: expected --vocab-file and "
                               "--merge-file: vocab.json and merges.txt"};
  Vocabulary tokens;
  std::vector<Merge> merges;
  MTC_RETURN_IF_ERROR(Vocabulary::read(choice.vocabFile, tokens));
  MTC_RETURN_IF_ERROR(readMerges(choice.mergeFile, tokens, merges));
  out =
      std::make_unique<BytePairTokenizer>(std::move(tokens), std::move(merges));
  return Status::okay();
}

} // namespace mtc::data
