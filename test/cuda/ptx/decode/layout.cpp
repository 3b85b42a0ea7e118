//===- layout.cpp - where variables of a kernel are -----------------------===//
#include "test/cuda/ptx/decode/layout.h"

#include <fmt/format.h>

#include <set>

namespace mtc::ptx {
namespace {

constexpr uint64_t kMostStaticShared = 48 * 1024;
constexpr uint64_t kMostLocal = 512 * 1024;
constexpr uint64_t kMostParameters = 4352, kMostParametersSince81 = 32764;

uint64_t alignedTo(uint64_t at, unsigned align) {
  return (at + align - 1) / align * align;
}

void namedBy(const Operand &operand, std::set<uint32_t> &variables) {
  if (operand.kind == Operand::Kind::variable)
    variables.insert(operand.index);
  for (const Operand &part : operand.parts)
    namedBy(part, variables);
}

/// In the order of the text.
std::set<uint32_t> variablesOf(const Function &kernel) {
  std::set<uint32_t> named(kernel.variables.begin(), kernel.variables.end());
  for (const Statement &statement : kernel.statements)
    for (const Operand &operand : statement.operands)
      namedBy(operand, named);
  return named;
}

class LayoutMaker {
public:
  LayoutMaker(const Tree &tree, const Function &kernel,
              std::vector<Problem> &problems)
      : tree_(tree), kernel_(kernel), problems_(problems) {
    made_.offsets.resize(tree.variables.size());
  }

  Layout run() {
    made_.facts.name = kernel_.name;
    made_.facts.line = kernel_.line;
    made_.facts.requiredBlock = kernel_.requiredBlock;
    made_.facts.largestBlock = kernel_.largestBlock;
    parameters();
    std::set<uint32_t> named = variablesOf(kernel_);
    made_.facts.localBytes =
        uint32_t(placeAll(named, Space::local, 0, kMostLocal));
    uint64_t end =
        placeAll(named, Space::shared, kSharedBase, kMostStaticShared);
    made_.facts.sharedBytes = uint32_t(dynamicShared(named, end) - kSharedBase);
    return std::move(made_);
  }

private:
  void tooMuch(Space space, uint64_t most) {
    problems_.push_back({kernel_.line,
                         fmt::format("{}: more than {} bytes of .{} memory",
                                     kernel_.name, most, nameOf(space)),
                         {}});
  }

  void parameters() {
    uint64_t at = 0;
    uint64_t most = tree_.version >= 81 && tree_.target >= 70
                        ? kMostParametersSince81
                        : kMostParameters;
    for (uint32_t number : kernel_.parameters) {
      const Variable &each = tree_.variables[number];
      at = alignedTo(at, each.align);
      made_.offsets[number] = uint32_t(at);
      made_.facts.parameters.push_back(
          {each.name, uint32_t(at), uint32_t(each.bytes), each.pointer});
      at += each.bytes;
      if (at > most)
        return tooMuch(Space::param, most);
    }
    made_.facts.parameterBytes = uint32_t(at);
  }

  uint64_t placeAll(const std::set<uint32_t> &named, Space space, uint64_t at,
                    uint64_t most) {
    uint64_t first = at;
    for (uint32_t number : named) {
      const Variable &each = tree_.variables[number];
      if (each.space != space || each.bytes == 0)
        continue;
      at = alignedTo(at, each.align);
      made_.offsets[number] = uint32_t(at);
      at += each.bytes;
      if (at - first > most) {
        tooMuch(space, most);
        return first;
      }
    }
    return at;
  }

  /// All of an open size start at one address, behind the others.
  uint64_t dynamicShared(const std::set<uint32_t> &named, uint64_t at) {
    for (bool place : {false, true})
      for (uint32_t number : named) {
        const Variable &each = tree_.variables[number];
        if (each.space != Space::shared || each.bytes != 0)
          continue;
        made_.facts.dynamicShared = true;
        if (place)
          made_.offsets[number] = uint32_t(at);
        else
          at = alignedTo(at, each.align);
      }
    return at;
  }

  const Tree &tree_;
  const Function &kernel_;
  std::vector<Problem> &problems_;
  Layout made_;
};

} // namespace

Layout layoutOf(const Tree &tree, const Function &kernel,
                std::vector<Problem> &problems) {
  return LayoutMaker(tree, kernel, problems).run();
}

} // namespace mtc::ptx
