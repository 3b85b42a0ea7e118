//===- lexer.cpp - the words of a program's text --------------------------===//
#include "test/cuda/ptx/syntax/lexer.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace mtc::ptx {
namespace {

// Not those of <cctype>, which ask the locale and fear negative characters.
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' ||
         c == '\v';
}
bool startsWord(char c) {
  return isLetter(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
bool isInWord(char c) { return startsWord(c) || isDigit(c); }

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Problem> &problems)
      : text_(text), problems_(problems) {}

  std::vector<Token> run() {
    while (skipBlanks())
      token();
    tokens_.push_back({TokenKind::end, {}, 0, line_});
    return std::move(tokens_);
  }

private:
  char at(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void problem(std::string sentence) {
    problems_.push_back({line_, std::move(sentence), {}});
  }

  void add(TokenKind kind, size_t end, uint64_t bits = 0) {
    tokens_.push_back({kind, text_.substr(at_, end - at_), bits, line_});
    at_ = end;
  }

  void step() {
    line_ += text_[at_] == '\n';
    ++at_;
  }

  void skipComment() {
    int first = line_;
    size_t end = text_.find("*/", at_ + 2);
    while (at_ < std::min(end, text_.size()))
      step();
    if (end == text_.npos)
      problems_.push_back({first, "this comment does not end", {}});
    else
      at_ += 2;
  }

  /// Whether a token follows.
  bool skipBlanks() {
    while (at_ < text_.size()) {
      if (isBlank(at()))
        step();
      else if (at() == '/' && at(1) == '/')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (at() == '/' && at(1) == '*')
        skipComment();
      else
        return true;
    }
    return false;
  }

  void token() {
    if (isDigit(at()))
      return number();
    if (startsWord(at()))
      return word();
    if (at() == '"')
      return string();
    if (at() != '\0' && std::strchr("{}()[]<>,;:|=+-!@*~&^/?", at()))
      return add(TokenKind::mark, at_ + 1);
    problem(fmt::format("a character of code {} has no meaning here",
                        int(static_cast<unsigned char>(at()))));
    ++at_;
  }

  /// Modifiers may have "::" in them, as shared::cta.
  void word() {
    size_t end = at_ + 1;
    for (; end < text_.size(); ++end) {
      if (isInWord(text_[end]))
        continue;
      if (text_.substr(end, 2) != "::" || end + 2 >= text_.size() ||
          !isInWord(text_[end + 2]))
        break;
      ++end;
    }
    add(TokenKind::word, end);
  }

  void string() {
    size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == text_.npos || text_[end] == '\n') {
      problem("this string does not end on its line");
      at_ = std::min(end, text_.size());
      return;
    }
    add(TokenKind::string, end + 1);
  }

  void number() {
    size_t end = at_;
    while (end < text_.size() &&
           (isDigit(text_[end]) || isLetter(text_[end]) || text_[end] == '.'))
      ++end;
    // An exponent has a sign: 1.0e-3.
    if (end < text_.size() && (text_[end] == '-' || text_[end] == '+') &&
        (text_[end - 1] == 'e' || text_[end - 1] == 'E') && !isPrefixed())
      for (++end; end < text_.size() && isDigit(text_[end]);)
        ++end;
    std::string_view digits = text_.substr(at_, end - at_);
    Token token{TokenKind::integer, digits, 0, line_};
    if (!floatBits(digits, token) && !decimalBits(digits, token) &&
        !integerBits(digits, token))
      problem(fmt::format("'{}' is no number", digits));
    tokens_.push_back(token);
    at_ = end;
  }

  bool isPrefixed() const { return at() == '0' && isLetter(at(1)); }

  static bool parse(std::string_view digits, int base, uint64_t &value) {
    const char *end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), end, value, base);
    return error == std::errc() && stop == end && !digits.empty();
  }

  /// 0f3F800000 and 0d3FF0000000000000.
  static bool floatBits(std::string_view digits, Token &token) {
    if (digits.size() < 2 || digits[0] != '0')
      return false;
    bool single = digits[1] == 'f' || digits[1] == 'F';
    bool real = digits[1] == 'd' || digits[1] == 'D';
    if (!single && !real)
      return false;
    token.kind = single ? TokenKind::single : TokenKind::real;
    return digits.size() == (single ? 10u : 18u) &&
           parse(digits.substr(2), 16, token.bits);
  }

  static bool decimalBits(std::string_view digits, Token &token) {
    if (digits.find('.') == digits.npos)
      return false;
    double value;
    const char *end = digits.data() + digits.size();
    auto [stop, error] = std::from_chars(digits.data(), end, value);
    token.kind = TokenKind::real;
    token.bits = __builtin_bit_cast(uint64_t, value);
    return error == std::errc() && stop == end;
  }

  static bool integerBits(std::string_view digits, Token &token) {
    if (digits.size() > 1 && (digits.back() == 'U' || digits.back() == 'u'))
      digits.remove_suffix(1);
    if (digits.size() < 2 || digits[0] != '0')
      return parse(digits, 10, token.bits);
    char base = digits[1];
    if (base == 'x' || base == 'X')
      return parse(digits.substr(2), 16, token.bits);
    if (base == 'b' || base == 'B')
      return parse(digits.substr(2), 2, token.bits);
    return parse(digits.substr(1), 8, token.bits);
  }

  std::string_view text_;
  std::vector<Problem> &problems_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
};

} // namespace

std::vector<Token> tokensOf(std::string_view text,
                            std::vector<Problem> &problems) {
  return Lexer(text, problems).run();
}

Lines::Lines(std::string_view text) {
  while (true) {
    size_t end = text.find('\n');
    lines_.push_back(text.substr(0, end));
    if (end == text.npos)
      return;
    text.remove_prefix(end + 1);
  }
}

std::string_view Lines::at(int line) const {
  if (line < 1 || size_t(line) > lines_.size())
    return {};
  std::string_view text = lines_[line - 1];
  size_t first = text.find_first_not_of(" \t\r");
  size_t last = text.find_last_not_of(" \t\r");
  return first == text.npos ? std::string_view()
                            : text.substr(first, last - first + 1);
}

} // namespace mtc::ptx
