//===- lexer.h - the words of a program's text ------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_LEXER_H
#define MTC_TEST_CUDA_PTX_SYNTAX_LEXER_H

#include "test/cuda/ptx/module.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mtc::ptx {

enum class TokenKind : uint8_t {
  word,    ///< a name, an opcode with its modifiers, a directive: "ld.b32"
  integer, ///< without a sign
  single,  ///< 0fXXXXXXXX
  real,    ///< 0dXXXXXXXXXXXXXXXX, or with a decimal point
  string,  ///< between quotes
  mark,    ///< one character of punctuation
  end,
};

struct Token {
  TokenKind kind;
  std::string_view text; ///< within the program's text
  uint64_t bits = 0;     ///< the value of a number, or the bits of a float
  int line = 0;          ///< from 1

  bool is(char mark) const {
    return kind == TokenKind::mark && text[0] == mark;
  }
  bool isWord(std::string_view word) const {
    return kind == TokenKind::word && text == word;
  }
};

/// All tokens of a text, with one `end` behind them. What is no token becomes a
/// problem and is left out. Tokens point into `text`.
std::vector<Token> tokensOf(std::string_view text,
                            std::vector<Problem> &problems);

/// Lines of a text, for messages.
class Lines {
public:
  explicit Lines(std::string_view text);
  /// Without margins; lines count from 1, others are empty.
  std::string_view at(int line) const;
  int count() const { return int(lines_.size()); }

private:
  std::vector<std::string_view> lines_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_LEXER_H
