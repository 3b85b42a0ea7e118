//===- safetensors.h - the safetensors file format --------------*- C++ -*-===//
//
// [0,8) little-endian header length N; [8,8+N) a JSON object: name ->
// {dtype, shape, data_offsets}, offsets relative to byte 8+N; then the data,
// row-major and little-endian. The reader rejects, never repairs: offsets must
// cover the data without holes or overlaps and agree with dtype and shape. The
// writer orders by alignment descending, then name, as the reference does.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_SAFETENSORS_H
#define MTC_RUNTIME_BASE_SAFETENSORS_H

#include "runtime/base/file.h"
#include "runtime/base/file_sums.h"
#include "runtime/base/status.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace mtc::runtime {

struct TensorInfo {
  std::string name;
  std::string dtype = "F32"; ///< "F32", "BF16", "I32", ...
  std::vector<int64_t> shape;
  int64_t begin = 0; ///< bytes from the start of the data
  int64_t bytes = 0; ///< product of the shape times the element size
};

/// Bytes of one element of a safetensors dtype; 0 for unknown and for the types
/// smaller than a byte, which this reader does not take.
int64_t safetensorsElementBytes(const std::string &dtype);

/// A whole file: its header in memory, its data read when asked for.
class SafetensorsFile {
public:
  /// Errors: inputRejected with the rule that the file breaks.
  static Status open(const std::string &path, SafetensorsFile &out);

  const std::vector<TensorInfo> &tensors() const { return tensors_; }
  const std::map<std::string, std::string> &metadata() const {
    return metadata_;
  }
  /// nullptr when there is no such tensor.
  const TensorInfo *find(const std::string &name) const;
  /// Where a tensor's data begin in the file, in bytes.
  int64_t offsetOf(const TensorInfo &tensor) const {
    return dataStart_ + tensor.begin;
  }
  /// Reads `bytes` of a tensor's data from byte `offset` of it to `out`.
  /// Errors: inputRejected, when the file was cut since it was opened.
  Status read(const TensorInfo &tensor, int64_t offset, void *out,
              int64_t bytes) const {
    return file_.read(offsetOf(tensor) + offset, out, bytes);
  }

private:
  Status parse(const std::string &path);
  Status checkCover(const std::string &path);
  InputFile file_;
  int64_t dataStart_ = 0;
  std::vector<TensorInfo> tensors_; ///< by offset
  std::unordered_map<std::string, size_t> index_;
  std::map<std::string, std::string> metadata_;
};

/// Writes one file. The tensors are declared first; their bytes come in any
/// order; the file appears under its name at commit() only.
class SafetensorsWriter {
public:
  /// `begin` and `bytes` of the tensors are computed here. `meanwhile` is
  /// AtomicFile's.
  static Status create(const std::string &path, std::vector<TensorInfo> tensors,
                       const std::map<std::string, std::string> &metadata,
                       SafetensorsWriter &out,
                       const std::string &meanwhile = "");
  /// Sums up what is written from here on, with the header before it: nothing
  /// was written yet, and tensors come in the order of their names, each from
  /// its start on. The file's sums are `sums.finish()` then.
  void sumUp(SumsOfWrites &sums);
  /// Writes part of a tensor; `offset` is in bytes inside the tensor.
  Status write(const std::string &name, int64_t offset, const void *data,
               int64_t bytes);
  Status commit(NameSync names = NameSync::here);

private:
  AtomicFile file_;
  int64_t dataStart_ = 0, dataBytes_ = 0;
  std::string header_;           ///< as it was written
  SumsOfWrites *sums_ = nullptr; ///< null: none
  int64_t summed_ = 0;           ///< bytes
  std::unordered_map<std::string, TensorInfo> tensors_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_SAFETENSORS_H
