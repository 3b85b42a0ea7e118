//===- cursor.cpp - walks over the tokens of a program --------------------===//
#include "test/cuda/ptx/syntax/cursor.h"

#include <fmt/format.h>

namespace mtc::ptx {

bool Cursor::expect(char mark) {
  if (accept(mark))
    return true;
  unexpected(fmt::format("'{}'", mark));
  return false;
}

std::string_view Cursor::expectWord(std::string_view what) {
  if (peek().kind == TokenKind::word)
    return next().text;
  unexpected(what);
  return {};
}

uint64_t Cursor::expectInteger(std::string_view what) {
  if (peek().kind == TokenKind::integer)
    return next().bits;
  unexpected(what);
  return 0;
}

void Cursor::problem(int line, std::string sentence) {
  if (problems_.size() < kProblems)
    problems_.push_back({line, std::move(sentence), {}});
}

void Cursor::unexpected(std::string_view what) {
  std::string found = atEnd() ? "the end of the text"
                              : fmt::format("'{}'", peek().text.substr(0, 60));
  problem(line(), fmt::format("expected {}, found {}", what, found));
}

void Cursor::skipStatement() {
  // Braces of vectors are within: only one that nothing opened ends it.
  for (int depth = 0; !atEnd(); next()) {
    if (depth <= 0 && peek().is('}'))
      return;
    depth += peek().is('{');
    depth -= peek().is('}');
    if (peek().is(';')) {
      next();
      return;
    }
  }
}

void Cursor::skipLine(int line) {
  while (!atEnd() && peek().line == line)
    next();
}

void Cursor::skipBraces() {
  int depth = 0;
  while (!atEnd()) {
    depth += peek().is('{');
    depth -= peek().is('}');
    next();
    if (depth <= 0)
      return;
  }
}

} // namespace mtc::ptx
