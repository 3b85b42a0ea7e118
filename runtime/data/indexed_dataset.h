//===- indexed_dataset.h - Megatron-LM's .bin and .idx ----------*- C++ -*-===//
//
// A corpus is two files of one prefix:
//
//   PREFIX.idx   "MMIDIDX\0\0", u64 version 1, u8 code of the tokens' type,
//                u64 S sequences, u64 D document indices, then arrays without
//                padding between: i32 lengths[S] in tokens, i64 pointers[S] in
//                bytes of the .bin, i64 documents[D], the sequence with which
//                each document begins and S at last; i8 modes[S] in files of
//                several modalities only
//   PREFIX.bin   the tokens of one sequence behind those of another
//
// All is little-endian. Megatron-LM's own tools write one sequence for each
// document, or one for each sentence; training there samples sequences.
//
// Both files are mapped. One that is cut while it is read is an error of the
// read, not the end of the process (mapped_file.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DATA_INDEXED_DATASET_H
#define MTC_RUNTIME_DATA_INDEXED_DATASET_H

#include "runtime/base/mapped_file.h"
#include "runtime/data/token_type.h"

#include <functional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Of an .idx that was looked at as a whole.
struct IndexedSummary {
  int64_t tokens = 0;                ///< of all sequences
  int64_t longest = 0;               ///< tokens of the longest sequence
  std::string digest;                ///< of types, lengths and documents
  std::vector<int32_t> lengths = {}; ///< of each sequence, if asked for
};

/// Says how far something is, from 0 to 1; false ends it.
using DataProgress = std::function<bool(double done)>;

/// A corpus, open for reading. Reads of several threads do not disturb each
/// other. `first` and `count` must lie in the array that is read: they are the
/// caller's to check.
class IndexedDataset {
public:
  /// Opens both files and checks the header of the .idx against their sizes.
  /// Errors: inputRejected, naming the file, the field, its value and the rule.
  static Status open(const std::string &prefix, IndexedDataset &out);

  /// Whether PREFIX.idx is there.
  static bool isThere(const std::string &prefix);

  const std::string &prefix() const { return prefix_; }
  std::string indexFile() const { return prefix_ + ".idx"; }
  std::string tokenFile() const { return prefix_ + ".bin"; }
  TokenType type() const { return type_; }
  int64_t tokenBytes() const { return infoOf(type_).bytes; }
  int64_t sequences() const { return sequences_; }
  int64_t documents() const { return documents_; }
  int64_t tokens() const { return bin_.size() / tokenBytes(); }
  bool hasModes() const { return hasModes_; }

  /// Reads all of the .idx: each length is at least 0, each pointer the sum of
  /// the lengths before it (in bytes), the last one ends with the .bin, and
  /// documents ascend from 0 to the number of sequences. Memory: a block of
  /// each array, and four bytes a sequence if `wantsLengths`. Errors:
  /// inputRejected, with the first violation of each rule and their number;
  /// interrupted, when `progress` ends it.
  Status check(IndexedSummary &out, bool wantsLengths = false,
               const DataProgress &progress = {}) const;

  /// Tokens of the sequences [first, first + count).
  Status lengths(int64_t first, int64_t count, int32_t *out) const;
  /// Where each begins in the .bin, in bytes.
  Status pointers(int64_t first, int64_t count, int64_t *out) const;
  /// The first sequence of each document of [first, first + count); there is
  /// one more than documents, the end of the last.
  Status documentStarts(int64_t first, int64_t count, int64_t *out) const;
  Status modes(int64_t first, int64_t count, int8_t *out) const;

  /// Reads the tokens [first, first + count) of the .bin, as they are in it.
  Status tokenBytes(int64_t first, int64_t count, std::byte *out) const;

private:
  Status readHeader();
  Status checkSizes(uint64_t sequences, uint64_t starts);

  std::string prefix_;
  MappedFile idx_, bin_;
  TokenType type_ = TokenType::u16;
  int64_t sequences_ = 0, documents_ = 0;
  bool hasModes_ = false;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_INDEXED_DATASET_H
