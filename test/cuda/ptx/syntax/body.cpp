//===- body.cpp - what stands in a function -------------------------------===//
#include "test/cuda/ptx/syntax/parse_state.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

constexpr size_t kDeepestScope = 100;

} // namespace

void Parser::body(Function &function) {
  if (!cursor_.expect('{'))
    return;
  function.defined = true;
  function_ = &function;
  size_t outside = scopes_.depth();
  scopes_.open();
  while (scopes_.depth() > outside && !cursor_.atEnd()) {
    size_t before = cursor_.problems();
    bodyItem();
    if (cursor_.problems() > before && scopes_.depth() > outside)
      cursor_.skipStatement();
  }
  if (scopes_.depth() > outside)
    cursor_.unexpected("'}'");
  while (scopes_.depth() > outside)
    closeScope();
  function_ = nullptr;
}

void Parser::bodyItem() {
  if (cursor_.accept(';'))
    return;
  if (cursor_.accept('{')) {
    if (scopes_.depth() > kDeepestScope)
      return cursor_.problem(cursor_.line(), "braces that are nested too deep");
    return scopes_.open();
  }
  if (cursor_.accept('}'))
    return closeScope();
  if (cursor_.peek(1).is(':'))
    return label();
  if (cursor_.peek().kind == TokenKind::word && cursor_.peek().text[0] == '.') {
    if (!bodyDirective())
      cursor_.unexpected("an instruction");
    return;
  }
  statement();
}

bool Parser::bodyDirective() {
  int line = cursor_.line();
  if (cursor_.acceptWord(".reg")) {
    registers();
    return true;
  }
  if (cursor_.acceptWord(".loc") || cursor_.acceptWord(".file")) {
    cursor_.skipLine(line);
    return true;
  }
  if (cursor_.acceptWord(".pragma")) {
    cursor_.skipStatement();
    return true;
  }
  std::optional<Space> space = spaceOf(cursor_.peek().text);
  if (!space)
    return false;
  cursor_.next();
  variable(*space);
  cursor_.expect(';');
  return true;
}

void Parser::label() {
  int line = cursor_.line();
  std::string_view name = cursor_.expectWord("a label");
  cursor_.expect(':');
  if (name.empty())
    return;
  if (cursor_.acceptWord(".branchtargets"))
    return branchTargets(name);
  if (!scopes_.addLabel(name, uint32_t(function_->statements.size())))
    cursor_.problem(line, fmt::format("label '{}' is there twice", name));
}

// Numbers of uses: a statement and an operand, or a list of targets.
namespace {

constexpr size_t kOperands = 64;
constexpr size_t kTargets = size_t(1) << 40;
constexpr size_t kInTargets = size_t(1) << 16;

} // namespace

/// Named as a label is; the list is told from those by its bit.
void Parser::branchTargets(std::string_view name) {
  constexpr uint32_t kIsList = 1u << 31;
  size_t list = function_->targets.size();
  if (!scopes_.addLabel(name, kIsList | uint32_t(list)))
    cursor_.problem(cursor_.line(),
                    fmt::format("label '{}' is there twice", name));
  function_->targets.emplace_back();
  do {
    int line = cursor_.line();
    std::string label(cursor_.expectWord("a label"));
    size_t at = function_->targets.back().size();
    if (at >= kInTargets)
      return cursor_.problem(line, "more targets than are taken here");
    scopes_.use({label, kTargets + list * kInTargets + at, line});
    function_->targets.back().push_back(0);
  } while (cursor_.accept(','));
  cursor_.expect(';');
}

void Parser::guard(Statement &statement) {
  if (!cursor_.accept('@'))
    return;
  statement.guarded = true;
  statement.guardNegated = cursor_.accept('!');
  int line = cursor_.line();
  std::string_view name = cursor_.expectWord("a predicate");
  auto found = scopes_.findRegister(name, function_->registers);
  if (!found || function_->registers[*found].type != Type::pred)
    return cursor_.problem(
        line,
        fmt::format("expected a register of type pred, found '{}'", name));
  statement.guard = *found;
}

void Parser::statement() {
  Statement made{};
  guard(made);
  made.line = cursor_.line();
  std::string_view word = cursor_.expectWord("an instruction");
  if (word.empty() || word[0] == '.' || word.back() == '.') {
    if (!word.empty())
      cursor_.problem(made.line, fmt::format("'{}' is no instruction", word));
    return;
  }
  size_t end = word.find('.');
  made.opcode = word.substr(0, end);
  while (end != word.npos) {
    size_t start = end + 1;
    end = word.find('.', start);
    made.modifiers.emplace_back(word.substr(start, end - start));
  }
  size_t before = cursor_.problems();
  while (!cursor_.peek().is(';') && !cursor_.atEnd()) {
    made.operands.push_back(operand());
    if (cursor_.problems() > before)
      return;
    if (made.operands.size() >= kOperands)
      return cursor_.problem(made.line, "more operands than any instruction");
    if (!cursor_.accept(','))
      break;
  }
  if (!cursor_.expect(';'))
    return;
  awaitLabels(made);
  function_->statements.push_back(std::move(made));
}

void Parser::awaitLabels(Statement &statement) {
  size_t number = function_->statements.size();
  for (size_t k = 0; k < statement.operands.size(); ++k)
    if (statement.operands[k].kind == Operand::Kind::name)
      scopes_.use(
          {statement.operands[k].name, number * kOperands + k, statement.line});
}

void Parser::closeScope() {
  constexpr uint32_t kIsList = 1u << 31;
  auto found = [&](const LabelUse &use, uint32_t number) {
    bool isList = number & kIsList;
    if (use.where >= kTargets) {
      size_t in = use.where - kTargets;
      function_->targets[in / kInTargets][in % kInTargets] = number;
      if (isList)
        cursor_.problem(use.line, "expected a label, found a list of them");
      return;
    }
    Operand &operand = function_->statements[use.where / kOperands]
                           .operands[use.where % kOperands];
    operand.kind = isList ? Operand::Kind::targets : Operand::Kind::label;
    operand.index = number & ~kIsList;
  };
  scopes_.close(found, [&](const LabelUse &use) {
    cursor_.problem(use.line, fmt::format("nothing is named '{}'", use.name));
  });
}

} // namespace mtc::ptx
