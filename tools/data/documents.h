//===- documents.h - documents out of text files ----------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_DOCUMENTS_H
#define MTC_TOOLS_DATA_DOCUMENTS_H

#include "runtime/base/file.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::data {

/// What a document of a file is.
enum class Documents {
  jsonl,      ///< the object of a line
  lines,      ///< a line, without its end
  paragraphs, ///< lines between blank ones, with the ends between them
  files       ///< the whole file
};

/// A piece of a file: whole documents, none of them split.
struct TextChunk {
  std::string text;
  size_t file = 0;    ///< which of the files
  int64_t line = 1;   ///< of the first byte
  int64_t offset = 0; ///< of the first byte in its file
};

/// Reads files one after the other, in pieces of about a mebibyte, more where a
/// document is longer.
class TextSource {
public:
  /// Errors: inputRejected, all files that cannot be read; usage, for none.
  static runtime::Status open(std::vector<std::string> paths, Documents kind,
                              TextSource &out);

  int64_t bytes() const { return bytes_; } ///< of all files
  Documents kind() const { return kind_; }
  const std::vector<std::string> &paths() const { return paths_; }
  /// "FILE:LINE", for a message.
  std::string place(size_t file, int64_t line) const;

  /// The next piece; sets `more` to false in place of one at the end. Errors:
  /// inputRejected: a file became unreadable, or a document is longer than
  /// 2^31 - 1 bytes.
  runtime::Status next(TextChunk &out, bool &more);

private:
  runtime::Status fill(TextChunk &out);

  std::vector<std::string> paths_;
  Documents kind_ = Documents::jsonl;
  int64_t bytes_ = 0;
  size_t next_ = 0; ///< of the files, the one to open
  runtime::InputFile file_;
  bool open_ = false;
  int64_t offset_ = 0, line_ = 1;
  std::string rest_; ///< read, and the beginning of the next piece
};

/// A document in its chunk.
struct DocumentText {
  std::string_view text;
  int64_t line = 0;   ///< of its first byte
  int64_t offset = 0; ///< of its first byte, both in the file
};

/// Calls `use` with each document of a chunk. Of `jsonl` it is a line, and
/// lines with nothing but white space are none.
void forEachDocument(const TextChunk &chunk, Documents kind,
                     const std::function<void(const DocumentText &)> &use);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_DOCUMENTS_H
