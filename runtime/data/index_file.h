//===- index_file.h - arrays of integers that runs keep ---------*- C++ -*-===//
//
// What indices of samples are kept in between runs:
//
//   "mtcindex", u32 version, u32 number of arrays, 32 digits of the key (what
//   the arrays follow from), 32 digits of the data, for each array u64 number
//   of elements and u64 bytes of one (4 or 8), 32 digits of all before; then
//   the arrays, one behind the other, unsigned and little-endian
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DATA_INDEX_FILE_H
#define MTC_RUNTIME_DATA_INDEX_FILE_H

#include "runtime/base/digest.h"
#include "runtime/base/file.h"
#include "runtime/data/indexed_dataset.h"

#include <span>
#include <string>
#include <vector>

namespace mtc::runtime {

struct IndexArray {
  int64_t count = 0;
  int64_t bytes = 4; ///< of an element
  /// The narrower width that holds all of [0, most].
  static IndexArray upTo(int64_t most, int64_t count) {
    return {count, most <= int64_t{UINT32_MAX} ? 4 : 8};
  }
};

class IndexFile {
public:
  /// Reads the header. Errors: inputRejected: damage, a file of another key
  /// (32 digits), of another size than its header says.
  static Status open(const std::string &path, const std::string &key,
                     IndexFile &out);
  /// Reads all data. Errors: inputRejected, if they are not what was written;
  /// interrupted.
  Status verify(const DataProgress &progress = {}) const;

  const std::string &path() const { return file_.path(); }
  size_t arrays() const { return arrays_.size(); }
  int64_t count(size_t array) const { return arrays_[array].count; }
  /// Elements [first, first + count) of an array. Errors: inputRejected, among
  /// them: there are fewer.
  Status read(size_t array, int64_t first, int64_t count, int64_t *out) const;

private:
  MappedFile file_;
  std::vector<IndexArray> arrays_;
  std::vector<int64_t> offsets_; ///< of each array in the file
  std::string digest_;           ///< of the data
};

/// Writes one, whole or not at all: any number of processes may write the same
/// one, each under a name of its own until it is done.
class IndexFileWriter {
public:
  static Status create(const std::string &path, const std::string &key,
                       std::vector<IndexArray> arrays, IndexFileWriter &out);
  /// The next elements, array by array.
  template <typename T> Status append(std::span<const T> values) {
    while (!values.empty()) {
      size_t part = std::min(values.size(), kBlock);
      for (T value : values.first(part))
        put(static_cast<uint64_t>(value));
      values = values.subspan(part);
      if (buffer_.size() >= kBlock)
        MTC_RETURN_IF_ERROR(flush());
    }
    return Status::okay();
  }
  /// Errors: writeFailed; internal, when elements are missing.
  Status commit();

private:
  static constexpr size_t kBlock = size_t{1} << 16;
  void put(uint64_t value);
  Status flush();

  AtomicFile file_;
  std::string key_, buffer_;
  std::vector<IndexArray> arrays_;
  size_t array_ = 0;
  int64_t inArray_ = 0, at_ = 0;
  Digest digest_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_INDEX_FILE_H
