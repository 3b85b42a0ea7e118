//===- merges.cpp - the merges of a byte-level BPE ------------------------===//

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "tools/data/byte_alphabet.h"
#include "tools/data/vocabulary.h"

#include <fmt/format.h>

#include <unordered_set>

using mtc::runtime::Problems;
using mtc::runtime::Status;

namespace mtc::data {
namespace {

class MergeReader {
public:
  MergeReader(const Vocabulary &tokens, std::vector<Merge> &out,
              Problems &problems)
      : tokens_(tokens), out_(out), problems_(problems),
        made_(tokens.size(), false) {}

  void read(int64_t line, std::string_view text) {
    size_t space = text.find(' ');
    if (space == 0 || space == text.npos || space + 1 == text.size() ||
        text.find(' ', space + 1) != text.npos)
      return problem(line, fmt::format("expected two symbols with a space "
                                       "between them, found '{}'",
                                       text.substr(0, 80)));
    std::string_view left = text.substr(0, space);
    std::string_view right = text.substr(space + 1);
    Merge merge = {symbol(line, left), symbol(line, right), -1};
    if (merge.left < 0 || merge.right < 0)
      return;
    std::string result = std::string(left) + std::string(right);
    merge.result = tokens_.idOf(result);
    if (merge.result < 0)
      return problem(line, fmt::format("'{}' is no token", result));
    if (result == kEndOfDocument)
      return problem(
          line,
          fmt::format("'{}' ends documents, and no merge makes it", result));
    uint64_t pair = uint64_t(merge.left) << 32 | uint32_t(merge.right);
    if (!pairs_.insert(pair).second)
      return problem(line,
                     fmt::format("'{}' is there twice", text.substr(0, 80)));
    made_[merge.result] = true;
    out_.push_back(merge);
  }

private:
  void problem(int64_t line, const std::string &text) {
    problems_.add(fmt::format("line {}: {}", line, text));
  }

  /// The token that a symbol is; -1: none, which is said.
  int32_t symbol(int64_t line, std::string_view text) {
    std::string bytes;
    int32_t id = tokens_.idOf(text);
    if (id < 0 || !bytesOf(text, bytes))
      problem(line, fmt::format("'{}' is no token", text.substr(0, 80)));
    else if (bytes.size() > 1 && !made_[id]) {
      problem(line, fmt::format("'{}' is made by no earlier line",
                                text.substr(0, 80)));
      id = -1;
    }
    return bytes.empty() ? -1 : id;
  }

  const Vocabulary &tokens_;
  std::vector<Merge> &out_;
  Problems &problems_;
  std::vector<bool> made_; ///< by token: an earlier line's result
  std::unordered_set<uint64_t> pairs_;
};

} // namespace

Status parseMerges(std::string_view text, const std::string &path,
                   const Vocabulary &tokens, std::vector<Merge> &out) {
  out.clear();
  Problems problems;
  MergeReader reader(tokens, out, problems);
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view here = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (here.ends_with('\r'))
      here.remove_suffix(1);
    bool isVersion = line == 1 && here.starts_with("#version");
    bool isLast = here.empty() && text.empty();
    if (isVersion || isLast)
      continue;
    if (static_cast<int64_t>(out.size()) == kMostMerges) {
      problems.add(fmt::format("more than {} merges", kMostMerges));
      break;
    }
    reader.read(line, here);
  }
  return problems.status(path);
}

Status readMerges(const std::string &path, const Vocabulary &tokens,
                  std::vector<Merge> &out) {
  std::string text;
  MTC_RETURN_IF_ERROR(runtime::readWholeFile(path, text));
  return parseMerges(text, path, tokens, out);
}

} // namespace mtc::data
