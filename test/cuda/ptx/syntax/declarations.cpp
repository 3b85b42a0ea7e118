//===- declarations.cpp - variables, and what they start with -------------===//
#include "test/cuda/ptx/syntax/parse_state.h"

#include <fmt/format.h>

#include <cstring>

namespace mtc::ptx {
namespace {

/// A kernel of ours has kilobytes; a hostile text asks for more.
constexpr uint64_t kLargest = uint64_t(1) << 28;
/// Of one with values; these take memory as the text is read.
constexpr uint64_t kLargestImage = uint64_t(1) << 24;

/// A float literal in an array of another float type, or of bits.
uint64_t convertedBits(const Token &token, unsigned width) {
  if (token.kind == TokenKind::single && width == 8)
    return __builtin_bit_cast(
        uint64_t, double(__builtin_bit_cast(float, uint32_t(token.bits))));
  if (token.kind == TokenKind::real && width == 4)
    return __builtin_bit_cast(uint32_t,
                              float(__builtin_bit_cast(double, token.bits)));
  return token.bits;
}

} // namespace

std::optional<Space> Parser::spaceOf(std::string_view directive) {
  if (directive == ".global")
    return Space::global;
  if (directive == ".shared")
    return Space::shared;
  if (directive == ".local")
    return Space::local;
  if (directive == ".const")
    return Space::constant;
  if (directive == ".param")
    return Space::param;
  return std::nullopt;
}

std::optional<uint32_t> Parser::variable(Space space) {
  Variable made;
  made.space = space;
  made.line = cursor_.line();
  std::string_view word;
  std::optional<Type> type;
  attributes(made);
  word = cursor_.expectWord("a type");
  uint64_t lanes = word == ".v2" ? 2 : word == ".v4" ? 4 : 1;
  if (lanes > 1)
    word = cursor_.expectWord("a type");
  if (!word.empty())
    type = typeNamed(word.substr(1));
  if (word.substr(0, 1) != "." || !type || bytesOf(*type) == 0) {
    cursor_.problem(made.line,
                    fmt::format("expected a type, found '{}'", word));
    return std::nullopt;
  }
  made.bytes = bytesOf(*type) * lanes;
  made.pointer = *type == Type::u64 || *type == Type::b64;
  attributes(made); // .ptr .global .align 4 stands behind the type
  made.align = std::max(made.align, unsigned(made.bytes));
  made.name = cursor_.expectWord("the name of a variable");
  extents(made);
  if (cursor_.accept('='))
    initialiser(made, bytesOf(*type));
  auto number = uint32_t(tree_.variables.size());
  if (!scopes_.addVariable(made.name, number))
    cursor_.problem(made.line, fmt::format("'{}' is there twice", made.name));
  if (function_)
    function_->variables.push_back(number);
  tree_.variables.push_back(std::move(made));
  return number;
}

/// .align 16, and .ptr with what it says of where a pointer points to: the
/// latter is a promise about values, not about the parameter.
void Parser::attributes(Variable &variable) {
  bool pointsTo = false;
  while (true) {
    if (cursor_.acceptWord(".align")) {
      int line = cursor_.line();
      uint64_t align = cursor_.expectInteger("an alignment");
      if (align == 0 || align > 4096 || (align & (align - 1)))
        cursor_.problem(line, "expected an alignment that is a power of two");
      else if (!pointsTo)
        variable.align = unsigned(align);
    } else if (cursor_.acceptWord(".ptr")) {
      pointsTo = variable.pointer = true;
    } else if (!pointsTo || !spaceOf(cursor_.peek().text)) {
      return;
    } else {
      cursor_.next();
    }
  }
}

/// [4][8], or [] of what a launch gives the size.
void Parser::extents(Variable &variable) {
  while (cursor_.accept('[')) {
    if (cursor_.accept(']')) {
      variable.bytes = 0;
      continue;
    }
    int line = cursor_.line();
    uint64_t count = cursor_.expectInteger("a number of elements");
    cursor_.expect(']');
    if (count == 0 || count > kLargest || variable.bytes * count > kLargest)
      return cursor_.problem(line, "expected from 1 byte to 256 MiB");
    variable.bytes *= count;
  }
}

void Parser::initialiser(Variable &variable, unsigned width) {
  int line = cursor_.line();
  if (variable.space != Space::global && variable.space != Space::constant)
    return cursor_.problem(line, fmt::format("a .{} variable starts unwritten",
                                             nameOf(variable.space)));
  if (variable.bytes > kLargestImage)
    return cursor_.problem(line, "expected at most 16 MiB of values");
  uint64_t at = 0;
  int depth = 0;
  variable.image.assign(variable.bytes, std::byte(0));
  do {
    while (cursor_.accept('{'))
      ++depth;
    if (!cursor_.peek().is('}'))
      element(variable, width, at);
    while (depth > 0 && cursor_.accept('}'))
      --depth;
  } while (depth > 0 && cursor_.accept(','));
  if (depth > 0)
    cursor_.unexpected("'}'");
}

void Parser::element(Variable &variable, unsigned width, uint64_t &at) {
  bool negative = cursor_.accept('-');
  if (at + width > variable.image.size())
    return cursor_.problem(cursor_.line(), "more values than the variable has");
  const Token &token = cursor_.peek();
  if (token.kind == TokenKind::word) {
    if (!addressElement(variable, width, at))
      return;
  } else if (token.kind == TokenKind::integer ||
             token.kind == TokenKind::single || token.kind == TokenKind::real) {
    bool isFloat = token.kind != TokenKind::integer;
    uint64_t bits = isFloat ? convertedBits(token, width) : token.bits;
    if (negative)
      bits = isFloat ? bits ^ (uint64_t(1) << (8 * width - 1)) : -bits;
    std::memcpy(variable.image.data() + at, &bits, std::min(width, 8u));
    cursor_.next();
  } else {
    return cursor_.unexpected("a value");
  }
  at += width;
}

/// name, name+4, generic(name).
bool Parser::addressElement(Variable &variable, unsigned width, uint64_t at) {
  int line = cursor_.line();
  bool generic = cursor_.acceptWord("generic") && cursor_.expect('(');
  std::string_view name = cursor_.expectWord("a variable");
  auto target = scopes_.variable(name);
  int64_t distance = offset();
  if (generic)
    cursor_.expect(')');
  if (!target || width != 8) {
    cursor_.problem(line, fmt::format("expected a variable that is there and "
                                      "8 bytes for it, found '{}'",
                                      name));
    return false;
  }
  variable.relocations.push_back({at, *target, distance});
  return true;
}

/// +4, -4, +-4, or nothing.
int64_t Parser::offset() {
  bool plus = cursor_.accept('+');
  bool minus = cursor_.accept('-');
  if (!plus && !minus)
    return 0;
  auto value = int64_t(cursor_.expectInteger("an offset"));
  return minus ? int64_t(-uint64_t(value)) : value;
}

/// .reg .b32 %r<33>, %other;
void Parser::registers() {
  int line = cursor_.line();
  std::string_view word = cursor_.expectWord("a type");
  auto type = word.empty() ? std::nullopt : typeNamed(word.substr(1));
  if (!type || *type == Type::b128 || word[0] != '.')
    return cursor_.problem(
        line, fmt::format("expected a type of registers, found '{}'", word));
  do {
    std::string_view name = cursor_.expectWord("the name of a register");
    std::optional<uint64_t> count;
    if (cursor_.accept('<')) {
      count = cursor_.expectInteger("a number of registers");
      cursor_.expect('>');
    }
    if (!scopes_.addRegister(name, *type, count))
      cursor_.problem(line, fmt::format("'{}' is there twice", name));
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

} // namespace mtc::ptx
