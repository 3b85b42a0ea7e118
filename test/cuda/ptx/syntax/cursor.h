//===- cursor.h - walks over the tokens of a program ------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_SYNTAX_CURSOR_H
#define MTC_TEST_CUDA_PTX_SYNTAX_CURSOR_H

#include "test/cuda/ptx/syntax/lexer.h"

#include <string>
#include <vector>

namespace mtc::ptx {

class Cursor {
public:
  /// So many problems are told of one text.
  static constexpr size_t kProblems = 200;

  Cursor(std::vector<Token> tokens, std::vector<Problem> &problems)
      : tokens_(std::move(tokens)), problems_(problems) {}

  /// The token that comes, or one behind it; at the end it is `end`.
  const Token &peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token &next() {
    const Token &token = peek();
    at_ += at_ + 1 < tokens_.size();
    return token;
  }
  bool atEnd() const { return peek().kind == TokenKind::end; }
  int line() const { return peek().line; }

  bool accept(char mark) {
    bool found = peek().is(mark);
    if (found)
      next();
    return found;
  }
  bool acceptWord(std::string_view word) {
    bool found = peek().isWord(word);
    if (found)
      next();
    return found;
  }
  /// False and a problem, without a step, if another token comes.
  bool expect(char mark);
  /// The word that comes; empty and a problem if none does. `what` it is.
  std::string_view expectWord(std::string_view what);
  /// The same of a number; 0 if none comes.
  uint64_t expectInteger(std::string_view what);

  void problem(int line, std::string sentence);
  /// "expected WHAT, found THAT", of the token that comes.
  void unexpected(std::string_view what);
  size_t problems() const { return problems_.size(); }

  /// Past the next ';', or to a '}' or the end.
  void skipStatement();
  /// Past the tokens of a line: .loc and .file end with it.
  void skipLine(int line);
  /// Past the braces that come, and all within.
  void skipBraces();

private:
  std::vector<Token> tokens_;
  std::vector<Problem> &problems_;
  size_t at_ = 0;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_SYNTAX_CURSOR_H
