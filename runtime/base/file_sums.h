//===- file_sums.h - digests of a file, chunk by chunk ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_FILE_SUMS_H
#define MTC_RUNTIME_BASE_FILE_SUMS_H

#include "runtime/base/digest.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Of a file, as it was meant to be written: its bytes, and an XXH3-128
/// (digest.h) of each 4 MiB, the last of them shorter.
struct FileSums {
  int64_t bytes = 0;
  std::vector<std::string> digests;
  bool operator==(const FileSums &) const = default;
};

inline constexpr int64_t kSumChunk = int64_t{4} << 20;

/// Makes them from a file's bytes as these are written, in their order.
class SumsOfWrites {
public:
  void add(std::string_view bytes);
  /// Of all that was added; it begins anew.
  FileSums finish();

private:
  void endChunk();
  Digest digest_; ///< of the chunk in progress
  FileSums sums_;
};

/// As a file has them: JSON, `{"bytes": n, "chunk": 4194304, "xxh3_128":
/// [..]}`.
std::string textOf(const FileSums &sums);
/// Errors: inputRejected, all at once.
Status parseSums(std::string_view text, const std::string &path, FileSums &out);

/// Whether a file has these bytes. Errors: inputRejected, with the first bytes
/// that are others.
Status checkSums(const std::string &path, const FileSums &sums);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_FILE_SUMS_H
