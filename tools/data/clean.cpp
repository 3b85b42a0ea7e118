//===- clean.cpp - repairs the texts of a corpus --------------------------===//

#include "tools/data/clean.h"

#include "tools/data/clean_text.h"
#include "tools/data/json_object.h"
#include "tools/data/unicode.h"

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::data {
namespace {

struct Cleaned {
  int64_t documents = 0, changed = 0, empty = 0, unreadable = 0;
  Repairs repairs;
  std::string firstUnreadable; ///< file, line and why

  void add(const Cleaned &other) {
    documents += other.documents;
    changed += other.changed;
    empty += other.empty;
    unreadable += other.unreadable;
    repairs.invalidBytes += other.repairs.invalidBytes;
    repairs.lineBreaks += other.repairs.lineBreaks;
    repairs.escapes += other.repairs.escapes;
    repairs.controls += other.repairs.controls;
    repairs.spaces += other.repairs.spaces;
    if (firstUnreadable.empty())
      firstUnreadable = other.firstUnreadable;
  }
};

/// Bytes that are no UTF-8 outside of the text, in keys and other values.
void appendValid(std::string_view part, Repairs &repairs, std::string &out) {
  for (size_t at = 0; at < part.size();) {
    CodePoint point = codePointAt(part, at);
    if (point.valid)
      out += part.substr(at, point.bytes);
    else {
      ++repairs.invalidBytes;
      appendCodePoint(0xFFFD, out);
    }
    at += point.bytes;
  }
}

void cleanLine(const TextLine &line, Cleaned &counts, std::string &out) {
  ++counts.documents;
  std::string text = cleanText(line.text, counts.repairs);
  if (text.empty()) {
    ++counts.empty;
    return;
  }
  size_t before = out.size();
  appendValid(line.line.substr(0, line.begin), counts.repairs, out);
  std::string_view quoted = line.line.substr(line.begin, line.end - line.begin);
  bool isHalf = false; // of a surrogate pair, which was read as U+FFFD
  std::string decoded;
  if (quoted.find("\\u") != quoted.npos)
    isHalf = !decodeJsonText(quoted.substr(1, quoted.size() - 2), decoded);
  if (text == line.text && !isHalf)
    out += quoted;
  else
    appendJsonText(text, out);
  appendValid(line.line.substr(line.end), counts.repairs, out);
  counts.changed += std::string_view(out).substr(before) != line.line;
  out += '\n';
}

void describe(const Cleaned &counts, const std::string &output,
              Report &report) {
  report.add("documents", "documents", counts.documents);
  report.add("changed", "changed", counts.changed);
  report.add("invalid_bytes", "no UTF-8", counts.repairs.invalidBytes);
  report.add("line_breaks", "line breaks", counts.repairs.lineBreaks);
  report.add("escapes", "escapes of terminals", counts.repairs.escapes);
  report.add("control_characters", "control characters",
             counts.repairs.controls);
  report.add("spaces", "white space", counts.repairs.spaces);
  report.add("empty", "empty, left out", counts.empty);
  report.add("unreadable", "unreadable, left out", counts.unreadable);
  if (counts.unreadable > 0)
    report.add("first_unreadable", "the first", counts.firstUnreadable);
  report.add("written", "written", counts.documents - counts.empty);
  report.add("output", "", output);
}

} // namespace

Status cleanCorpus(const TextOptions &options, const std::string &output,
                   const Watch &watch, Report &report) {
  TextSource source;
  MTC_RETURN_IF_ERROR(
      TextSource::open(options.files, options.documents, source));
  LineOutput out;
  MTC_RETURN_IF_ERROR(LineOutput::create(output, options.files, out));
  Meter meter("clean", source.bytes(), watch);
  Cleaned all;
  auto work = [&](const TextChunk &chunk, int, ChunkResult<Cleaned> &result) {
    Cleaned &counts = result.counts;
    forEachLine(
        chunk, options, /*anyBytes=*/true,
        [&](const DocumentText &, const TextLine &line) {
          cleanLine(line, counts, result.lines);
        },
        [&](int64_t line, const std::string &problem) {
          if (counts.unreadable++ == 0)
            counts.firstUnreadable =
                fmt::format("{}: {}", source.place(chunk.file, line), problem);
        });
  };
  MTC_RETURN_IF_ERROR(
      rewriteText<Cleaned>(source, options.workers, out, meter, work,
                           [&](const Cleaned &counts) { all.add(counts); }));
  MTC_RETURN_IF_ERROR(out.commit());
  describe(all, output, report);
  return Status::okay();
}

} // namespace mtc::data
