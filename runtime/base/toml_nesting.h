//===- toml_nesting.h - how deep keys and lists of TOML nest ----*- C++ -*-===//
//
// The tables that a TOML parser makes of "a.b.c = 1" lie in each other, and are
// walked and freed by recursion: a long enough key ends the process. This scan
// needs no stack, so it looks at a text before the parser does.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_TOML_NESTING_H
#define MTC_RUNTIME_BASE_TOML_NESTING_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// The most levels of a line's key and value together; far more than a file of
/// mtc has.
constexpr int64_t kMostTomlLevels = 64;

/// Counts the brackets that are open and the dots of the keys before them.
class TomlNesting {
public:
  explicit TomlNesting(std::string_view text) : text_(text) {}

  /// The first line, counted from 1, that nests deeper than `most` levels; none
  /// does: empty. Of a text that is no TOML only what a parser could read
  /// before its error is sure to be counted.
  std::optional<int64_t> lineBeyond(int64_t most) {
    while (at_ < text_.size()) {
      step(text_[at_]);
      if (levels_ > most)
        return line_;
    }
    return std::nullopt;
  }

private:
  /// What a bracket holds; the lowest is the line itself.
  struct Frame {
    int64_t dots = 0;     ///< of the key that is open
    bool isTable = true;  ///< keys, and no list
    bool inValue = false; ///< behind the key's "=", where a dot is a number's
  };

  void step(char c) {
    Frame &frame = open_.back();
    switch (c) {
    case '#':
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    case '"':
    case '\'':
      return skipString(c);
    case '\n':
      ++line_;
      if (frame.isTable) // a list goes on in the next line
        endKey(frame);
      break;
    case '.':
      if (!frame.inValue) {
        ++frame.dots;
        ++levels_;
      }
      break;
    case '=':
      frame.inValue = true;
      break;
    case ',':
      if (frame.isTable)
        endKey(frame);
      break;
    case '[': // a list, or at the start of a line a table's header
      open_.push_back({0, false, frame.inValue});
      ++levels_;
      break;
    case '{':
      open_.push_back({});
      ++levels_;
      break;
    case ']':
    case '}':
      if (open_.size() > 1)
        close();
      break;
    default:
      break;
    }
    ++at_;
  }

  void endKey(Frame &frame) {
    levels_ -= frame.dots;
    frame.dots = 0;
    frame.inValue = false;
  }

  void close() {
    levels_ -= open_.back().dots + 1;
    open_.pop_back();
  }

  /// Goes behind the string that begins here. A string of one line ends with
  /// it, whether it is closed or not.
  void skipString(char quote) {
    bool isLong = at_ + 2 < text_.size() && text_[at_ + 1] == quote &&
                  text_[at_ + 2] == quote;
    at_ += isLong ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\n' && !isLong)
        return;
      if (c == quote && (!isLong || endsLong(quote)))
        break;
      if (c == '\\' && quote == '"')
        ++at_;
      if (at_ < text_.size() && text_[at_] == '\n')
        ++line_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  /// Whether three quotes stand here. Then goes to the last of them: up to two
  /// more belong to the string.
  bool endsLong(char quote) {
    size_t end = std::min(text_.find_first_not_of(quote, at_), text_.size());
    if (end - at_ < 3)
      return false;
    at_ = std::min(end, at_ + 5) - 1;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1, levels_ = 0;
  std::vector<Frame> open_{Frame{}};
};

/// The first line, counted from 1, that nests too deep to be parsed.
inline std::optional<int64_t> lineNestedTooDeep(std::string_view text) {
  return TomlNesting(text).lineBeyond(kMostTomlLevels);
}

/// What an error says of such a line.
inline std::string tooDeepToml() {
  return "expected keys and lists of at most " +
         std::to_string(kMostTomlLevels) + " levels, found more";
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_TOML_NESTING_H
