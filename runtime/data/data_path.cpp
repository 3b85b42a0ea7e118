//===- data_path.cpp - what --data names ----------------------------------===//

#include "runtime/data/data_path.h"

#include "runtime/data/indexed_dataset.h"
#include "runtime/data/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

namespace mtc::runtime {
namespace {

std::vector<std::string_view> wordsOf(std::string_view text) {
  constexpr std::string_view spaces = " \t\n";
  std::vector<std::string_view> words;
  for (size_t at = 0;;) {
    at = text.find_first_not_of(spaces, at);
    if (at == std::string_view::npos)
      return words;
    size_t end = std::min(text.find_first_of(spaces, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
}

bool isNumber(std::string_view word, double &out) {
  auto [rest, error] =
      std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && rest == word.data() + word.size();
}

/// The prefix of the corpus that a word names; empty if it names none.
std::string corpusOf(std::string_view word) {
  for (std::string_view end : {"", ".bin", ".idx"})
    if (word.ends_with(end)) {
      std::string prefix(word.substr(0, word.size() - end.size()));
      if (IndexedDataset::isThere(prefix))
        return prefix;
    }
  return "";
}

Status takeCorpora(const std::vector<std::string_view> &words,
                   const std::string &option, DataPath &out) {
  std::string missing;
  for (std::string_view word : words) {
    out.prefixes.push_back(corpusOf(word));
    if (out.prefixes.back().empty())
      missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", word);
  }
  if (missing.empty())
    return Status::okay();
  return {StatusCode::inputRejected,
          fmt::format("{}: expected corpora, PREFIX.idx and PREFIX.bin of "
                      "each, found none of {}",
                      option, missing)};
}

} // namespace

Status parseDataPath(std::string_view text, const std::string &option,
                     DataPath &out) {
  std::error_code error;
  DataPath path;
  std::string one = corpusOf(text);
  std::vector<std::string_view> words = wordsOf(text);
  if (!one.empty()) {
    path.prefixes = {one};
  } else if (std::filesystem::exists(std::string(text), error) ||
             words.size() < 2) {
    path.flat = text;
  } else {
    // Weights and names in turn, or names alone.
    std::vector<std::string_view> names;
    double weight;
    if (words.size() % 2 == 0 && isNumber(words[0], weight))
      for (size_t i = 0; i < words.size(); i += 2) {
        if (!isNumber(words[i], weight) || !std::isfinite(weight) ||
            weight <= 0)
          return {StatusCode::usage,
                  fmt::format("{}: expected a weight above 0 before '{}', "
                              "found '{}'",
                              option, words[i + 1], words[i])};
        path.weights.push_back(weight);
        names.push_back(words[i + 1]);
      }
    if (!std::isfinite(weightSum(path.weights)))
      return {StatusCode::usage,
              fmt::format("{}: expected weights with a finite sum, by which "
                          "each is divided, found a sum above {:.2g}; give "
                          "smaller ones in the same proportion",
                          option, std::numeric_limits<double>::max())};
    MTC_RETURN_IF_ERROR(
        takeCorpora(names.empty() ? words : names, option, path));
  }
  out = std::move(path);
  return Status::okay();
}

size_t countDataWords(std::span<const std::string> words) {
  size_t count = 0;
  while (count < words.size()) {
    double weight;
    bool isPair = count + 1 < words.size() && isNumber(words[count], weight) &&
                  !words[count + 1].starts_with('-');
    if (!isPair && corpusOf(words[count]).empty())
      break;
    count += isPair ? 2 : 1;
  }
  return std::min(std::max<size_t>(count, 1), words.size());
}

} // namespace mtc::runtime
