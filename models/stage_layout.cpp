//===- stage_layout.cpp - stages as a string ------------------------------===//
#include "models/stage_layout.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace mtc::models {

namespace {

constexpr size_t kMostParts = 65536;

/// Writes repetitions out.
class Expander {
public:
  explicit Expander(std::string_view text) : text(text) {}

  /// Parts and ends of stages; what is wrong is in `wrong`, else empty.
  std::string run() {
    for (; at < text.size() && wrong.empty(); ++at)
      read(text[at]);
    if (wrong.empty() && !open.empty())
      fail(open.back(), "a parenthesis that is not closed");
    return std::move(parts);
  }

  std::string wrong;

private:
  void read(char sign) {
    if (sign == '(') {
      open.push_back(parts.size());
    } else if (sign == ')') {
      if (open.empty())
        return fail(at, "a parenthesis that is not open");
      begin = open.back();
      open.pop_back();
    } else if (sign == '*') {
      repeat();
    } else if (std::string_view("EtL|").find(sign) != std::string_view::npos) {
      begin = parts.size();
      parts += sign;
    } else if (sign != ',') {
      fail(at, fmt::format("'{}'", sign));
    }
    if (parts.size() > kMostParts)
      fail(at, fmt::format("more than {} parts", kMostParts));
  }

  /// The part or the group before the sign, as often as the number says.
  void repeat() {
    size_t times = 0;
    auto [end, error] =
        std::from_chars(text.data() + at + 1, text.data() + text.size(), times);
    bool repeats = at > 0 && text[at - 1] != '(' && text[at - 1] != ',' &&
                   begin <= parts.size();
    if (error != std::errc() || times == 0 || !repeats)
      return fail(at, "a '*' without a part before it and a number behind it");
    std::string part = parts.substr(begin);
    if (times > kMostParts || part.size() * times > kMostParts)
      return fail(at, fmt::format("more than {} parts", kMostParts));
    for (size_t i = 1; i < times; ++i)
      parts += part;
    at = static_cast<size_t>(end - text.data()) - 1;
    begin = kNone;
  }

  void fail(size_t where, std::string_view what) {
    if (wrong.empty())
      wrong = fmt::format(", with {} at position {}", what, where + 1);
  }

  static constexpr size_t kNone = ~size_t{0};

  std::string_view text;
  size_t at = 0;
  std::string parts;
  std::vector<size_t> open; ///< where groups begin in `parts`
  size_t begin = kNone;     ///< of what a '*' repeats
};

} // namespace

/// What is wrong with the places of embedding and head; empty: nothing.
static std::string wrongEnds(const std::string &parts) {
  if (std::count(parts.begin(), parts.end(), 'E') != 1 || parts.front() != 'E')
    return ", where the first part is not the one embedding (E)";
  if (std::count(parts.begin(), parts.end(), 'L') != 1 || parts.back() != 'L')
    return ", where the last part is not the one head (L)";
  return "";
}

ReadText parseStageLayout(std::string_view text, std::vector<int64_t> &out) {
  Expander expander(text);
  std::string parts = expander.run();
  std::string wrong = expander.wrong.empty() && !parts.empty()
                          ? wrongEnds(parts)
                          : expander.wrong;
  if (parts.empty() || !wrong.empty())
    return {false, wrong};
  std::vector<int64_t> layers(1);
  for (char part : parts)
    if (part == '|')
      layers.push_back(0);
    else
      layers.back() += part == 't';
  out = std::move(layers);
  return {true, ""};
}

} // namespace mtc::models
