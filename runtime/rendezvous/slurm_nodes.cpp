//===- slurm_nodes.cpp - lists as Slurm writes them -----------------------===//

#include "runtime/rendezvous/launch_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mtc::runtime {
namespace {

/// Digits only, and few enough for a number.
bool readNumber(std::string_view text, uint64_t &out) {
  constexpr size_t kMostDigits = 9;
  if (text.empty() || text.size() > kMostDigits ||
      !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return true;
}

/// Up to the next `end` outside of brackets; removed from `rest` with it.
std::string_view takeItem(std::string_view &rest, char end) {
  int depth = 0;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    depth += (rest[at] == '[') - (rest[at] == ']');
    if (depth == 0 && rest[at] == end)
      break;
  }
  std::string_view item = rest.substr(0, at);
  rest.remove_prefix(std::min(rest.size(), at + 1));
  return item;
}

class Nodes {
public:
  Nodes(size_t most, std::vector<std::string> &out) : most_(most), out_(out) {}

  /// "rack[1-2]n[01-03]" behind `prefix`. False: it is no name.
  bool add(const std::string &prefix, std::string_view item, int depth = 0) {
    constexpr int kMostBrackets = 8;
    if (out_.size() >= most_)
      return true;
    size_t open = item.find('['), close = item.find(']');
    if (open == item.npos && close == item.npos) {
      out_.push_back(prefix + std::string(item));
      return !out_.back().empty();
    }
    if (open == item.npos || close == item.npos || close < open ||
        close == open + 1 || depth == kMostBrackets)
      return false;
    std::string_view ranges = item.substr(open + 1, close - open - 1);
    std::string before = prefix + std::string(item.substr(0, open));
    while (!ranges.empty())
      if (!addRange(before, takeItem(ranges, ','), item.substr(close + 1),
                    depth + 1))
        return false;
    return true;
  }

private:
  bool addRange(const std::string &before, std::string_view range,
                std::string_view behind, int depth) {
    std::string_view first = range.substr(0, range.find('-'));
    std::string_view last =
        first.size() < range.size() ? range.substr(first.size() + 1) : first;
    uint64_t from = 0, to = 0;
    if (!readNumber(first, from) || !readNumber(last, to) || to < from)
      return false;
    for (uint64_t n = from; n <= to && out_.size() < most_; ++n)
      if (!add(fmt::format("{}{:0{}}", before, n, first.size()), behind, depth))
        return false;
    return true;
  }

  size_t most_;
  std::vector<std::string> &out_;
};

} // namespace

Status expandNodes(std::string_view list, size_t most,
                   std::vector<std::string> &out) {
  out.clear();
  Nodes nodes(most, out);
  std::string_view rest = list;
  while (!rest.empty() && out.size() < most)
    if (!nodes.add("", takeItem(rest, ',')))
      return {StatusCode::usage,
              fmt::format("expected Slurm's list of nodes, as 'a[01-03,7],b', "
                          "found '{}'",
                          list.substr(0, 200))};
  return Status::okay();
}

int tasksOfNode(std::string_view list, int index) {
  int64_t before = 0;
  while (!list.empty()) {
    std::string_view item = takeItem(list, ',');
    size_t times = item.find("(x");
    uint64_t tasks = 0, nodes = 1;
    bool repeats = times != item.npos;
    if (!readNumber(item.substr(0, times), tasks) ||
        (repeats &&
         (item.back() != ')' ||
          !readNumber(item.substr(times + 2, item.size() - times - 3), nodes))))
      return -1;
    before += int64_t(nodes);
    if (index < before)
      return int(tasks);
  }
  return -1;
}

} // namespace mtc::runtime
