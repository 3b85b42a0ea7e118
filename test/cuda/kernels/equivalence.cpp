//===- equivalence.cpp - why a mutant does what its kernel does -----------===//
#include "equivalence.h"

#include "test/cuda/ptx/exact.h"

#include <array>
#include <regex>

using namespace mtc;
using namespace mtc::test;

namespace {

using Lines = std::vector<std::string>;

/// How a line may read something else and make the same.
enum class Loss {
  memory,
  choice,
  comparison,
  extreme,
  bits,
  exact,
  unknown ///< rounded, or stored for who knows whom
};

/// "setp.lt.f32" of a line, without its guard.
std::string operationOf(const std::string &line) {
  static const std::regex operation("^\\s*(@!?%\\w+\\s+)?([a-z0-9_.]+)");
  std::smatch found;
  return std::regex_search(line, found, operation) ? found[2].str() : "";
}

bool startsWithOneOf(const std::string &text,
                     std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (text.starts_with(std::string(name) + "."))
      return true;
  return false;
}

bool isOfFloats(const std::string &operation) {
  static const std::regex type("\\.(f|bf)(16|32|64)");
  return std::regex_search(operation, type);
}

bool isStore(const std::string &operation) {
  return startsWithOneOf(operation, {"st", "red", "atom"});
}

Loss lossAt(const std::string &line, bool rounded, Stores stores) {
  std::string operation = operationOf(line);
  if (isStore(operation) && stores == Stores::open)
    return Loss::unknown;
  if (isStore(operation) || startsWithOneOf(operation, {"ld"}))
    return Loss::memory;
  if (startsWithOneOf(operation, {"selp", "slct"}))
    return Loss::choice;
  if (startsWithOneOf(operation, {"setp", "set"}))
    return Loss::comparison;
  if (startsWithOneOf(operation, {"min", "max"}))
    return Loss::extreme;
  if (startsWithOneOf(operation, {"abs", "neg"}) || !isOfFloats(operation))
    return Loss::bits;
  bool known = ptx::arithmeticOf(line) != ptx::Arithmetic::none;
  return known && !rounded ? Loss::exact : Loss::unknown;
}

std::set<Loss> lossesOf(const Lines &lines, const ptx::Difference &difference,
                        Stores stores) {
  std::set<Loss> losses;
  for (int line : difference.lost)
    losses.insert(lossAt(lines[size_t(line) - 1],
                         difference.rounded.contains(line), stores));
  // What is stored is followed: to who loads it, and to what comes out.
  losses.erase(Loss::memory);
  return losses;
}

/// Instructions whose whole effect is in the registers that they write.
bool hasOtherEffect(const std::string &line) {
  return startsWithOneOf(operationOf(line),
                         {"st", "red", "atom", "bar", "barrier", "bra", "ret",
                          "exit", "fence", "membar", "cp", "wgmma"});
}

} // namespace

void mtc::test::merge(ptx::Difference &all, const ptx::Difference &one) {
  all.executed |= one.executed;
  all.otherWay |= one.otherWay;
  all.otherOperands |= one.otherOperands;
  all.otherResult |= one.otherResult;
  all.carried |= one.carried;
  all.lost.insert(one.lost.begin(), one.lost.end());
  all.rounded.insert(one.rounded.begin(), one.rounded.end());
  all.through.insert(one.through.begin(), one.through.end());
}

std::string mtc::test::ruleOf(const Lines &lines, const Mutant &mutant,
                              const ptx::Difference &difference,
                              Stores stores) {
  if (!difference.executed)
    return "no thread comes to the line";
  if (difference.otherWay)
    return "";
  const std::string &line = lines[mutant.line];
  bool registersOnly = mutant.kind == "register" || mutant.kind == "operands";
  if (hasOtherEffect(line) && registersOnly && !difference.otherOperands)
    return "the line writes the same at every step";
  if (!hasOtherEffect(line) && !difference.otherResult)
    return "the line writes the same at every step";
  bool isPlainStore = startsWithOneOf(operationOf(line), {"st"});
  if (hasOtherEffect(line) && (!isPlainStore || stores == Stores::open))
    return "";
  std::set<Loss> losses = lossesOf(lines, difference, stores);
  if (losses.empty())
    return "nobody uses what is other";
  if (losses.contains(Loss::unknown))
    return "";
  if (losses.size() > 1)
    return "choices, comparisons, extremes and exact arithmetic make the same "
           "of it";
  static const std::array<const char *, 6> names = {
      "",
      "what is other is never chosen",
      "comparisons answer the same",
      "minima and maxima are the same",
      "integers and bits come out the same",
      "sums and products are the same before they are rounded"};
  return names[size_t(*losses.begin())];
}

std::string mtc::test::lostIn(const Lines &lines,
                              const ptx::Difference &difference) {
  std::set<std::string> names;
  for (int line : difference.lost)
    names.insert(operationOf(lines[size_t(line) - 1]) +
                 (difference.rounded.contains(line) ? "~" : ""));
  for (int line : difference.through)
    names.insert("through " + operationOf(lines[size_t(line) - 1]));
  if (difference.otherWay)
    names.insert("another way");
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}
