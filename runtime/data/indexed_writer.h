//===- indexed_writer.h - writes Megatron-LM's .bin and .idx ----*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_INDEXED_WRITER_H
#define MTC_RUNTIME_DATA_INDEXED_WRITER_H

#include "runtime/base/file.h"
#include "runtime/data/indexed_dataset.h"

#include <span>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Writes a corpus (indexed_dataset.h), byte for byte what Megatron-LM's
/// builder writes for the same sequences. Nothing has its name before commit().
/// Memory: a mebibyte of tokens, four bytes a sequence, eight a document.
class IndexedWriter {
public:
  /// Errors: writeFailed; usage, for a type that has no code in an .idx.
  static Status create(const std::string &prefix, TokenType type,
                       IndexedWriter &out);

  /// A sequence. Errors: writeFailed; inputRejected, for a token that does not
  /// fit the type, or more than 2^31 - 1 of them.
  Status add(std::span<const int32_t> tokens);
  /// The same of tokens that are of the type already; a multiple of its bytes.
  Status addBytes(std::span<const std::byte> tokens);
  /// The sequences since the last call are a document; none is an empty one.
  void endDocument();
  /// All sequences and documents of another corpus, in their order. Errors:
  /// writeFailed; inputRejected, for one of another type or with modes, or
  /// whose lengths do not add up.
  Status append(const IndexedDataset &other);

  int64_t sequences() const { return static_cast<int64_t>(lengths_.size()); }
  int64_t documents() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t tokens() const { return tokens_; }

  /// Ends the last document, if it has a sequence, and gives both files their
  /// names: an .idx that was there goes first, so that none is beside tokens
  /// that are not its own. Errors: writeFailed.
  Status commit();

private:
  Status putTokens(const std::byte *tokens, int64_t bytes);
  Status flush();
  Status writeIndex();

  std::string prefix_;
  TokenType type_ = TokenType::u16;
  AtomicFile bin_;
  std::vector<std::byte> buffer_;
  int64_t written_ = 0; ///< bytes of the .bin
  int64_t tokens_ = 0;
  std::vector<int32_t> lengths_;
  std::vector<int64_t> starts_{0};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_INDEXED_WRITER_H
