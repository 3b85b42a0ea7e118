//===- text_lines.cpp - corpora of JSON lines, read and written -----------===//

#include "tools/data/text_lines.h"

#include "runtime/base/output_files.h"
#include "tools/data/json_object.h"
#include "tools/data/unicode.h"

#include <fmt/format.h>

using mtc::runtime::AtomicFile;
using mtc::runtime::Status;

namespace mtc::data {
namespace {

/// A line of JSON that has nothing but a text.
std::string lineOf(std::string_view text, const std::string &key,
                   TextLine &out) {
  std::string line = "{";
  appendJsonText(key, line);
  line += ": ";
  out.begin = line.size();
  appendJsonText(text, line);
  out.end = line.size();
  out.text = text;
  return line + "}";
}

} // namespace

void forEachLine(
    const TextChunk &chunk, const TextOptions &options, bool anyBytes,
    const std::function<void(const DocumentText &, const TextLine &)> &use,
    const std::function<void(int64_t, const std::string &)> &reject) {
  std::vector<std::string> keys = {options.key};
  std::vector<RecordText> texts;
  forEachDocument(chunk, options.documents, [&](const DocumentText &document) {
    if (options.documents == Documents::jsonl) {
      std::string problem = readRecord(document.text, keys, texts, anyBytes);
      if (!problem.empty())
        return reject(document.line, problem);
      return use(document,
                 {texts[0].text, document.text, texts[0].begin, texts[0].end});
    }
    size_t invalid =
        anyBytes ? document.text.size() : firstInvalidByte(document.text);
    if (invalid < document.text.size())
      return reject(document.line,
                    fmt::format("expected UTF-8, found byte 0x{:02X} as byte "
                                "{} of the document",
                                static_cast<uint8_t>(document.text[invalid]),
                                invalid + 1));
    TextLine line;
    std::string made = lineOf(document.text, options.key, line);
    line.line = made;
    use(document, line);
  });
}

void addProblem(const std::string &place, const std::string &problem,
                std::string &out) {
  out += fmt::format("{}{}: {}", out.empty() ? "" : "\n  ", place, problem);
}

Status LineOutput::create(const std::string &path,
                          const std::vector<std::string> &inputs,
                          LineOutput &out) {
  out = LineOutput();
  if (path.empty())
    return Status::okay();
  runtime::CommandFiles names;
  for (const std::string &input : inputs)
    names.inputs.push_back({"input", input});
  names.outputs = {{"--output", path}};
  MTC_RETURN_IF_ERROR(checkFiles(names));
  out.writes_ = true;
  return AtomicFile::create(path, out.file_);
}

Status LineOutput::add(std::string_view lines) {
  if (!writes_ || lines.empty())
    return Status::okay();
  auto bytes = static_cast<int64_t>(lines.size());
  MTC_RETURN_IF_ERROR(file_.write(at_, lines.data(), bytes));
  at_ += bytes;
  return Status::okay();
}

Status LineOutput::commit() {
  return writes_ ? file_.commit() : Status::okay();
}

} // namespace mtc::data
