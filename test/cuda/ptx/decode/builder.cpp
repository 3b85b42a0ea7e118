//===- builder.cpp - modifiers, and which operands are left ---------------===//
#include "test/cuda/ptx/decode/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mtc::ptx {

Builder::Builder(DecodeContext &context, const Statement &statement)
    : context_(context), statement_(statement) {
  out.line = statement.line;
  if (!statement.guarded)
    return;
  out.guarded = true;
  out.guardNegated = statement.guardNegated;
  out.guard = context.frame.placeOf(statement.guard);
}

void Builder::problem(std::string sentence) {
  // The first one of a statement: others often follow from it.
  if (!failed_)
    context_.problems.push_back({statement_.line, std::move(sentence), {}});
  failed_ = true;
}

bool Builder::comes(std::string_view modifier) const {
  return modifier_ < statement_.modifiers.size() &&
         statement_.modifiers[modifier_] == modifier;
}

bool Builder::take(std::string_view modifier) {
  bool found = comes(modifier);
  modifier_ += found;
  return found;
}

std::optional<size_t>
Builder::takeOneOf(std::initializer_list<std::string_view> list) {
  for (const std::string_view &each : list)
    if (take(each))
      return size_t(&each - list.begin());
  return std::nullopt;
}

size_t Builder::expectOneOf(std::initializer_list<std::string_view> list) {
  if (auto found = takeOneOf(list))
    return *found;
  std::string found = modifier_ < statement_.modifiers.size()
                          ? "." + statement_.modifiers[modifier_]
                          : "nothing";
  problem(fmt::format("{}: expected one of .{}, found {}", statement_.opcode,
                      fmt::join(list, " ."), found));
  return 0;
}

std::optional<Type> Builder::takeType() {
  if (modifier_ >= statement_.modifiers.size())
    return std::nullopt;
  auto type = typeNamed(statement_.modifiers[modifier_]);
  modifier_ += type.has_value();
  return type;
}

std::optional<Type> Builder::lastType() const {
  const auto &all = statement_.modifiers;
  return all.empty() ? std::nullopt : typeNamed(all.back());
}

void Builder::plain(Type type, unsigned sources) {
  endModifiers();
  to(type);
  for (unsigned k = 0; k < sources; ++k)
    from(type);
  endOperands();
}

Type Builder::expectType(std::initializer_list<Type> list) {
  std::string found = modifier_ < statement_.modifiers.size()
                          ? "." + statement_.modifiers[modifier_]
                          : "nothing";
  auto type = takeType();
  if (type && std::find(list.begin(), list.end(), *type) != list.end())
    return *type;
  std::vector<std::string_view> names;
  for (Type each : list)
    names.push_back(nameOf(each));
  problem(fmt::format("{}: expected a type of .{}, found {}", statement_.opcode,
                      fmt::join(names, " ."), found));
  return *list.begin();
}

void Builder::endModifiers() {
  if (modifier_ < statement_.modifiers.size())
    problem(fmt::format("{}: modifier .{} is not known in this place",
                        statement_.opcode, statement_.modifiers[modifier_]));
}

size_t Builder::operandsLeft() const {
  return statement_.operands.size() - operand_;
}

const Operand *Builder::peek() const {
  return operandsLeft() ? &statement_.operands[operand_] : nullptr;
}

const Operand *Builder::nextOperand() {
  if (!operandsLeft()) {
    problem(fmt::format("{}: {} operands are too few", statement_.opcode,
                        statement_.operands.size()));
    return nullptr;
  }
  return &statement_.operands[operand_++];
}

void Builder::endOperands() {
  if (operandsLeft())
    problem(fmt::format("{}: {} operands are too many", statement_.opcode,
                        statement_.operands.size()));
}

void Builder::flushesToZero() {
  if (rules().refuseFlushToZero)
    problem(fmt::format("{}: .ftz is refused: subnormal numbers are values",
                        statement_.opcode));
}

void Builder::approximates() {
  if (rules().refuseApproximate)
    problem(fmt::format("{}: an approximation is refused: devices need not "
                        "agree on its bits",
                        statement_.opcode));
}

void Builder::contractable() {
  if (rules().refuseContractable)
    problem(
        fmt::format("{}: expected a rounding, as .rn: without one ptxas may "
                    "make an fma of this and another",
                    statement_.opcode));
}

void Builder::needs(unsigned target, unsigned version) {
  if (context_.tree.target < target)
    problem(fmt::format("{}: expected .target sm_{} or later, found sm_{}",
                        statement_.opcode, target, context_.tree.target));
  if (context_.tree.version < version)
    problem(fmt::format("{}: expected .version {}.{} or later, found {}.{}",
                        statement_.opcode, version / 10, version % 10,
                        context_.tree.version / 10,
                        context_.tree.version % 10));
}

void Builder::needsExactly(unsigned target, unsigned version) {
  const Tree &tree = context_.tree;
  if (tree.target != target || !tree.architectureSpecific)
    problem(fmt::format("{}: expected .target sm_{}a, found sm_{}{}",
                        statement_.opcode, target, tree.target,
                        tree.architectureSpecific ? "a" : ""));
  needs(target, version);
}

} // namespace mtc::ptx
