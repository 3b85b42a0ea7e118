//===- token_output.cpp - where tokens of documents go --------------------===//

#include "tools/data/token_output.h"

#include "runtime/base/file.h"
#include "runtime/data/indexed_writer.h"

#include <fmt/format.h>

#include <array>

using mtc::runtime::AtomicFile;
using mtc::runtime::IndexedWriter;
using mtc::runtime::infoOf;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;
using mtc::runtime::TokenType;

namespace mtc::data {
namespace {

class IndexedOutput final : public TokenOutput {
public:
  Status create(const std::string &name, TokenType type) {
    prefix_ = name + "_document";
    return IndexedWriter::create(prefix_, type, writer_);
  }
  /// As Megatron-LM's: a document of no tokens is one of no sequences.
  Status add(std::span<const int32_t> tokens) override {
    if (!tokens.empty())
      MTC_RETURN_IF_ERROR(writer_.add(tokens));
    writer_.endDocument();
    return Status::okay();
  }
  Status commit() override { return writer_.commit(); }
  std::vector<std::string> files() const override {
    return {prefix_ + ".bin", prefix_ + ".idx"};
  }

private:
  std::string prefix_;
  IndexedWriter writer_;
};

/// Tokens behind a header, if there is one.
class FlatOutput final : public TokenOutput {
public:
  Status create(const std::string &name, TokenType type, bool hasHeader) {
    path_ = name + ".bin";
    type_ = type;
    hasHeader_ = hasHeader;
    at_ = hasHeader ? kHeaderBytes : 0;
    return AtomicFile::create(path_, file_);
  }
  Status add(std::span<const int32_t> tokens) override {
    std::vector<std::byte> bytes(tokens.size() * infoOf(type_).bytes);
    if (!runtime::narrowTokens(tokens, type_, bytes.data()))
      return {StatusCode::inputRejected,
              fmt::format("'{}': expected tokens up to {}, found a larger one",
                          path_, infoOf(type_).most)};
    tokens_ += static_cast<int64_t>(tokens.size());
    if (hasHeader_ && tokens_ > INT32_MAX)
      return {StatusCode::inputRejected,
              fmt::format("'{}': a file of llm.c has at most {} tokens; split "
                          "the input, or write another kind",
                          path_, INT32_MAX)};
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return buffer_.size() < kBuffer ? Status::okay() : flush();
  }
  Status commit() override {
    MTC_RETURN_IF_ERROR(flush());
    if (hasHeader_) {
      // Magic number, version, number of tokens; the rest is zero.
      std::array<int32_t, kHeaderBytes / 4> header = {
          20240520, 1, static_cast<int32_t>(tokens_)};
      MTC_RETURN_IF_ERROR(file_.write(0, header.data(), kHeaderBytes));
    }
    return file_.commit();
  }
  std::vector<std::string> files() const override { return {path_}; }

private:
  static constexpr int64_t kHeaderBytes = 1024;
  static constexpr size_t kBuffer = 1 << 20;

  Status flush() {
    auto bytes = static_cast<int64_t>(buffer_.size());
    MTC_RETURN_IF_ERROR(file_.write(at_, buffer_.data(), bytes));
    at_ += bytes;
    buffer_.clear();
    return Status::okay();
  }

  std::string path_;
  TokenType type_ = TokenType::u16;
  bool hasHeader_ = false;
  AtomicFile file_;
  std::vector<std::byte> buffer_;
  int64_t at_ = 0, tokens_ = 0;
};

} // namespace

Status createOutput(OutputKind kind, const std::string &name, TokenType type,
                    std::unique_ptr<TokenOutput> &out) {
  if (kind == OutputKind::indexed) {
    auto indexed = std::make_unique<IndexedOutput>();
    MTC_RETURN_IF_ERROR(indexed->create(name, type));
    out = std::move(indexed);
    return Status::okay();
  }
  bool isLlmc = kind == OutputKind::llmc;
  if (isLlmc && type != TokenType::u16)
    return {StatusCode::usage,
            fmt::format("a file of llm.c: expected tokens of u16, found {}",
                        infoOf(type).name)};
  auto flat = std::make_unique<FlatOutput>();
  MTC_RETURN_IF_ERROR(flat->create(name, type, isLlmc));
  out = std::move(flat);
  return Status::okay();
}

} // namespace mtc::data
