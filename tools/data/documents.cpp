//===- documents.cpp - documents out of text files ------------------------===//

#include "tools/data/documents.h"

#include <fmt/format.h>

#include <algorithm>

using mtc::runtime::InputFile;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

constexpr int64_t kBlock = int64_t{1} << 20;
constexpr int64_t kLongest = INT32_MAX; // of a document, in bytes

bool isBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == line.npos;
}

/// The line at `at`, with its end.
std::string_view lineAt(std::string_view text, size_t at) {
  return text.substr(at,
                     std::min(text.find('\n', at), text.size() - 1) + 1 - at);
}

/// Where whole documents end in the beginning of a file; 0: in none of these
/// bytes, of which the first `known` were looked at before.
size_t lastEnd(std::string_view text, Documents kind, size_t known) {
  if (kind == Documents::files)
    return 0;
  size_t end = text.size();
  while (end > known && (end = text.rfind('\n', end - 1)) != text.npos) {
    if (kind != Documents::paragraphs)
      return end + 1;
    // The line that ends here must be blank.
    size_t begin = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
    if (isBlank(text.substr(begin, end - begin)))
      return end + 1;
  }
  return 0;
}

std::string_view withoutEnd(std::string_view line) {
  if (line.ends_with('\n'))
    line.remove_suffix(1);
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

} // namespace

Status TextSource::open(std::vector<std::string> paths, Documents kind,
                        TextSource &out) {
  if (paths.empty())
    return {StatusCode::usage, "expected files to read"};
  out = TextSource();
  std::string problems;
  for (const std::string &path : paths) {
    InputFile file;
    Status status = InputFile::open(path, file);
    if (!status.ok())
      problems += (problems.empty() ? "" : "\n  ") + status.message();
    out.bytes_ += file.size();
  }
  if (!problems.empty())
    return {StatusCode::inputRejected, problems};
  out.paths_ = std::move(paths);
  out.kind_ = kind;
  return Status::okay();
}

std::string TextSource::place(size_t file, int64_t line) const {
  return fmt::format("{}:{}", paths_[file], line);
}

/// Reads until the text has the end of a document or the file ends, and keeps
/// what is behind the last one.
Status TextSource::fill(TextChunk &out) {
  std::string text = std::move(rest_);
  rest_.clear();
  size_t known = 0, end = 0;
  int64_t at = offset_ + static_cast<int64_t>(text.size());
  while (end == 0 && at < file_.size()) {
    // Blocks grow with what is there, so that a long document is not copied
    // again and again.
    int64_t wanted = kind_ == Documents::files
                         ? file_.size()
                         : std::max(kBlock, static_cast<int64_t>(text.size()));
    int64_t block = std::min(wanted, file_.size() - at);
    known = text.size();
    text.resize(known + block);
    MTC_RETURN_IF_ERROR(file_.read(at, text.data() + known, block));
    at += block;
    end = lastEnd(text, kind_, known);
    if (end == 0 && static_cast<int64_t>(text.size()) > kLongest)
      return {StatusCode::inputRejected,
              fmt::format("{}: expected documents of at most {} bytes, found a "
                          "longer one",
                          place(next_ - 1, line_), kLongest)};
  }
  if (at == file_.size())
    end = text.size();
  rest_ = text.substr(end);
  text.resize(end);
  out = {std::move(text), next_ - 1, line_, offset_};
  offset_ += static_cast<int64_t>(end);
  line_ += std::count(out.text.begin(), out.text.end(), '\n');
  return Status::okay();
}

Status TextSource::next(TextChunk &out, bool &more) {
  while (!open_ || offset_ == file_.size()) {
    // A file of no bytes is a document only where files are.
    bool isNew = open_ && file_.size() == 0 && kind_ == Documents::files;
    open_ = false;
    if (isNew) {
      out = {"", next_ - 1, 1, 0};
      return Status::okay();
    }
    if (next_ == paths_.size()) {
      more = false;
      return Status::okay();
    }
    MTC_RETURN_IF_ERROR(InputFile::open(paths_[next_], file_));
    ++next_;
    open_ = true;
    offset_ = 0;
    line_ = 1;
  }
  return fill(out);
}

namespace {

void eachLine(const TextChunk &chunk, bool skipsBlank,
              const std::function<void(const DocumentText &)> &use) {
  int64_t line = chunk.line;
  for (size_t at = 0; at < chunk.text.size(); ++line) {
    std::string_view here = lineAt(chunk.text, at);
    if (!skipsBlank || !isBlank(here))
      use({withoutEnd(here), line, chunk.offset + static_cast<int64_t>(at)});
    at += here.size();
  }
}

void eachParagraph(const TextChunk &chunk,
                   const std::function<void(const DocumentText &)> &use) {
  std::string_view text = chunk.text;
  int64_t line = chunk.line, first = 0;
  size_t begin = text.npos, end = 0; // of the paragraph that is open
  auto close = [&] {
    if (begin != text.npos)
      use({text.substr(begin, end - begin), first,
           chunk.offset + static_cast<int64_t>(begin)});
    begin = text.npos;
  };
  for (size_t at = 0; at < text.size(); ++line) {
    std::string_view here = lineAt(text, at);
    if (isBlank(here))
      close();
    else {
      if (begin == text.npos) {
        begin = at;
        first = line;
      }
      end = at + withoutEnd(here).size();
    }
    at += here.size();
  }
  close();
}

} // namespace

void forEachDocument(const TextChunk &chunk, Documents kind,
                     const std::function<void(const DocumentText &)> &use) {
  switch (kind) {
  case Documents::files:
    return use({chunk.text, chunk.line, chunk.offset});
  case Documents::paragraphs:
    return eachParagraph(chunk, use);
  case Documents::jsonl:
  case Documents::lines:
    return eachLine(chunk, kind == Documents::jsonl, use);
  }
}

} // namespace mtc::data
