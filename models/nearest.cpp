//===- nearest.cpp - what the user may have meant -------------------------===//

#include "models/nearest.h"

#include <algorithm>

#include <fmt/format.h>

namespace mtc::models {

static size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1,
                                     std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string nearestName(std::string_view word,
                        const std::vector<std::string_view> &candidates) {
  // No name is near a very long word, and the distance is quadratic.
  if (word.size() > 64)
    return "";
  size_t best = std::max<size_t>(2, word.size() / 3) + 1;
  std::string_view nearest;
  for (std::string_view candidate : candidates)
    // A word replaced letter by letter is a different word.
    if (size_t cost = distance(word, candidate);
        cost < best && cost < candidate.size()) {
      best = cost;
      nearest = candidate;
    }
  return std::string(nearest);
}

std::string suggestion(std::string_view word,
                       const std::vector<std::string_view> &candidates) {
  std::string name = nearestName(word, candidates);
  if (!name.empty())
    return fmt::format(", did you mean '{}'?", name);
  return fmt::format(", expected one of: {}", join(candidates));
}

std::vector<int64_t> nearestDivisors(int64_t n, int64_t value) {
  int64_t below = 0, above = 0;
  auto consider = [&](int64_t divisor) {
    if (divisor <= value)
      below = std::max(below, divisor);
    if (divisor >= value && (above == 0 || divisor < above))
      above = divisor;
  };
  for (int64_t d = 1; d <= n / d; ++d)
    if (n % d == 0) {
      consider(d);
      consider(n / d);
    }
  std::vector<int64_t> result;
  if (below)
    result.push_back(below);
  if (above && above != below)
    result.push_back(above);
  return result;
}

std::vector<int64_t> nearestMultiples(int64_t unit, int64_t value) {
  int64_t below = value / unit * unit;
  if (below == value && below > 0)
    return {value};
  if (below > 0)
    return {below, below + unit};
  return {unit};
}

std::string joinOr(const std::vector<int64_t> &values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0)
      text += i + 1 == values.size() ? " or " : ", ";
    text += std::to_string(values[i]);
  }
  return text;
}

std::string join(const std::vector<std::string_view> &words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

NameList parseNames(std::string_view text,
                    const std::vector<std::string_view> &known,
                    std::string_view what) {
  NameList list;
  auto isIn = [](const auto &names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  while (true) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    if (!isIn(known, name)) {
      std::string near = nearestName(name, known);
      list.wrong = near.empty() ? fmt::format(", where '{}' is {}", name, what)
                                : fmt::format(", did you mean '{}' by '{}'?",
                                              near, name);
      return list;
    }
    if (isIn(list.names, name)) {
      list.wrong = fmt::format(", with '{}' twice", name);
      return list;
    }
    list.names.emplace_back(name);
    if (comma == text.size())
      return list;
    text.remove_prefix(comma + 1);
  }
}

std::string describeSome(const std::vector<std::string_view> &known) {
  return fmt::format("none or names of {}, with commas between them",
                     join(known));
}

ReadText parseSome(std::string_view text,
                   const std::vector<std::string_view> &known,
                   std::string_view what, std::vector<std::string> &out) {
  NameList list = parseNames(text, known, what);
  if (text != "none" && !list.wrong.empty())
    return {false, list.wrong};
  out.clear();
  for (std::string_view name : known)
    if (text != "none" && std::find(list.names.begin(), list.names.end(),
                                    name) != list.names.end())
      out.emplace_back(name);
  return {true, ""};
}

std::string textOfSome(const std::vector<std::string> &names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ","));
}

} // namespace mtc::models
