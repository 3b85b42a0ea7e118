//===- part_name.cpp - names of parts of a model --------------------------===//

#include "runtime/base/part_name.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr std::string_view kMore = ", ...";

bool isNumber(std::string_view word) {
  return word == "*" || (!word.empty() && std::ranges::all_of(word, [](char c) {
           return '0' <= c && c <= '9';
         }));
}

std::vector<std::string_view> wordsOf(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t dot; (dot = name.find('.')) != std::string_view::npos;
       name.remove_prefix(dot + 1))
    words.push_back(name.substr(0, dot));
  words.push_back(name);
  return words;
}

} // namespace

std::string commonPart(const std::string &one, const std::string &other) {
  if (one == other)
    return one;
  std::vector<std::string_view> ours = wordsOf(one), theirs = wordsOf(other);
  std::string common;
  bool fit = ours.size() == theirs.size();
  for (size_t i = 0; fit && i < ours.size(); ++i) {
    bool same = ours[i] == theirs[i];
    fit = same || (isNumber(ours[i]) && isNumber(theirs[i]));
    common.append(i ? "." : "").append(same ? ours[i] : "*");
  }
  if (fit)
    return common;
  return one.ends_with(kMore) ? one : one + std::string(kMore);
}

} // namespace mtc::runtime
