//===- operands.cpp - what instructions are applied to --------------------===//
#include "test/cuda/ptx/syntax/parse_state.h"

#include "test/cuda/ptx/syntax/specials.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

constexpr int kDeepest = 4;
constexpr size_t kMostParts = 128; // accumulators of m64n256

} // namespace

Operand Parser::operand(int depth) {
  if (depth > kDeepest) {
    cursor_.problem(cursor_.line(), "operands that are nested too deep");
    return {};
  }
  if (cursor_.accept('{'))
    return group('}', Operand::Kind::vector, depth);
  if (cursor_.accept('('))
    return group(')', Operand::Kind::list, depth);
  if (cursor_.accept('['))
    return address();
  if (cursor_.accept('!')) {
    Operand made = word();
    made.negated = true;
    return made;
  }
  if (cursor_.peek().kind == TokenKind::word) {
    Operand first = word();
    if (!cursor_.accept('|'))
      return first;
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.parts = {first, word()};
    return pair;
  }
  return number();
}

Operand Parser::number() {
  bool negative = cursor_.accept('-');
  const Token &token = cursor_.peek();
  Operand made;
  made.name = token.text;
  made.bits = token.bits;
  switch (token.kind) {
  case TokenKind::integer:
    made.kind = Operand::Kind::integer;
    made.bits = negative ? -token.bits : token.bits;
    break;
  case TokenKind::single:
    made.kind = Operand::Kind::single;
    if (negative)
      cursor_.unexpected("a number that may be negative");
    break;
  case TokenKind::real:
    made.kind = Operand::Kind::real;
    made.bits ^= negative ? uint64_t(1) << 63 : 0;
    break;
  default:
    cursor_.unexpected("an operand");
    return made;
  }
  cursor_.next();
  return made;
}

Operand Parser::word() {
  Operand made;
  made.name = cursor_.expectWord("an operand");
  if (made.name.empty())
    return made;
  resolve(made, made.name);
  if (made.kind == Operand::Kind::variable)
    made.offset = offset();
  return made;
}

void Parser::resolve(Operand &operand, std::string_view name) {
  if (name == "_") {
    operand.kind = Operand::Kind::sink;
  } else if (auto reg = scopes_.findRegister(name, function_->registers)) {
    operand.kind = Operand::Kind::reg;
    operand.index = *reg;
  } else if (auto variable = scopes_.variable(name)) {
    operand.kind = Operand::Kind::variable;
    operand.index = *variable;
  } else if (isSpecialRegister(name)) {
    operand.kind = Operand::Kind::special;
  } else if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::integer;
    operand.bits = 32;
  } else if (auto known = functions_.find(name); known != functions_.end()) {
    operand.kind = Operand::Kind::function;
    operand.index = known->second;
  } else if (name[0] == '%') {
    cursor_.problem(cursor_.line(),
                    fmt::format("register '{}' is not declared", name));
  }
}

/// [register + 4], [variable + 4], [4].
Operand Parser::address() {
  Operand made;
  made.kind = Operand::Kind::address;
  int line = cursor_.line();
  if (cursor_.peek().kind == TokenKind::integer) {
    made.parts.push_back(number());
  } else {
    Operand base = word();
    if (cursor_.peek().is('-'))
      cursor_.unexpected("'+' or ']'"); // as ptxas has it: [%r1+-4]
    made.offset = base.kind == Operand::Kind::variable ? 0 : offset();
    if (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::variable)
      cursor_.problem(
          line, fmt::format("expected a register or a variable, found '{}'",
                            base.name));
    made.parts.push_back(std::move(base));
  }
  cursor_.expect(']');
  return made;
}

/// What stands between braces or brackets.
Operand Parser::group(char close, Operand::Kind kind, int depth) {
  Operand made;
  made.kind = kind;
  if (cursor_.accept(close))
    return made;
  size_t before = cursor_.problems();
  do {
    made.parts.push_back(operand(depth + 1));
    if (cursor_.problems() > before)
      return made;
    if (made.parts.back().kind == Operand::Kind::name)
      cursor_.problem(cursor_.line(), fmt::format("nothing is named '{}'",
                                                  made.parts.back().name));
    if (made.parts.size() > kMostParts) {
      cursor_.problem(cursor_.line(), "more operands than any instruction");
      return made;
    }
  } while (cursor_.accept(','));
  cursor_.expect(close);
  return made;
}

} // namespace mtc::ptx
