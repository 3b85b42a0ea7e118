//===- text_lines.h - corpora of JSON lines, read and written ---*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_TEXT_LINES_H
#define MTC_TOOLS_DATA_TEXT_LINES_H

#include "runtime/base/file.h"
#include "tools/data/documents.h"
#include "tools/data/in_order.h"
#include "tools/data/meter.h"
#include "tools/data/records.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::data {

/// A corpus and which of its texts are looked at.
struct TextOptions {
  std::vector<std::string> files;
  Documents documents = Documents::jsonl;
  std::string key = "text"; ///< of JSON lines
  int workers = 1;          ///< threads; no result depends on them
};

/// A document as a line of JSON: as it stands in the file, or of other
/// documents made of their text.
struct TextLine {
  std::string_view text;     ///< decoded
  std::string_view line;     ///< without its end
  size_t begin = 0, end = 0; ///< of the text's string in it, with quotes
};

/// Calls `use` with each document of a chunk that can be read, and `reject`
/// with line and problem of every other. With `anyBytes` bytes that are not
/// UTF-8 are taken, too.
void forEachLine(
    const TextChunk &chunk, const TextOptions &options, bool anyBytes,
    const std::function<void(const DocumentText &, const TextLine &)> &use,
    const std::function<void(int64_t line, const std::string &)> &reject);

/// Adds "FILE:LINE: PROBLEM" on a line of its own.
void addProblem(const std::string &place, const std::string &problem,
                std::string &out);

/// A file of lines that has its name only after commit(); without a name
/// nothing is written.
class LineOutput {
public:
  /// Errors: usage, if `path` is one of the inputs; writeFailed.
  static runtime::Status create(const std::string &path,
                                const std::vector<std::string> &inputs,
                                LineOutput &out);
  runtime::Status add(std::string_view lines);
  runtime::Status commit();

private:
  bool writes_ = false;
  runtime::AtomicFile file_;
  int64_t at_ = 0;
};

/// What came of a chunk.
template <typename Counts> struct ChunkResult {
  std::string lines;    ///< to write
  std::string problems; ///< end the command; empty: none
  Counts counts;
  int64_t bytes = 0; ///< of the chunk
};

/// Reads a corpus and calls `work` with its chunks, several at once; writes the
/// lines that it gives in the order of the input, and calls `add` with its
/// counts in that order. Errors: those of the files; inputRejected, problems.
template <typename Counts>
runtime::Status
rewriteText(TextSource &source, int workers, LineOutput &output, Meter &meter,
            const std::function<void(const TextChunk &, int thread,
                                     ChunkResult<Counts> &)> &work,
            const std::function<void(const Counts &)> &add) {
  using runtime::Status;
  int64_t done = 0;
  InOrder<TextChunk, ChunkResult<Counts>> order;
  order.read = [&](TextChunk &chunk, bool &more) {
    return source.next(chunk, more);
  };
  order.work = [&](TextChunk &chunk, int thread) {
    ChunkResult<Counts> result;
    result.bytes = static_cast<int64_t>(chunk.text.size());
    work(chunk, thread, result);
    return result;
  };
  order.use = [&](ChunkResult<Counts> &result) -> Status {
    if (!result.problems.empty())
      return {runtime::StatusCode::inputRejected, result.problems};
    add(result.counts);
    MTC_RETURN_IF_ERROR(output.add(result.lines));
    done += result.bytes;
    return meter.at(done);
  };
  return order.run(workers);
}

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_TEXT_LINES_H
