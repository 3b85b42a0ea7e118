//===- equivalence.cpp - why a mutant does what its kernel does -----------===//
#include "equivalence.h"

#include <regex>

using namespace mtc;
using namespace mtc::test;

namespace {

/// "setp.lt.f32" of a line, without its guard.
std::string operationOf(const std::string &line) {
  static const std::regex operation("^\\s*(@!?%\\w+\\s+)?([a-z0-9_.]+)");
  std::smatch found;
  return std::regex_search(line, found, operation) ? found[2].str() : "";
}

} // namespace

void mtc::test::merge(ptx::Difference &all, const ptx::Difference &one) {
  all.executed |= one.executed;
  all.otherWay |= one.otherWay;
  all.otherOperands |= one.otherOperands;
  all.otherResult |= one.otherResult;
  all.carried |= one.carried;
  all.lost.insert(one.lost.begin(), one.lost.end());
  all.through.insert(one.through.begin(), one.through.end());
}

std::string mtc::test::lostIn(const std::vector<std::string> &lines,
                              const ptx::Difference &difference) {
  std::set<std::string> names;
  for (int line : difference.lost)
    names.insert(operationOf(lines[size_t(line) - 1]));
  for (int line : difference.through)
    names.insert("through " + operationOf(lines[size_t(line) - 1]));
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string mtc::test::ruleOf(const std::vector<std::string> &lines,
                              const Mutant &mutant,
                              const ptx::Difference &difference) {
  if (!difference.executed)
    return "no thread comes to the line";
  if (difference.otherWay)
    return "";
  if (!difference.otherResult)
    return "the line writes the same at every step";
  if (!difference.isSeen())
    return "nobody reads what it writes";
  return "";
}
