//===- equivalence.cpp - why a mutant does what its kernel does -----------===//
#include "equivalence.h"

#include "float_bits.h"
#include "instruction_text.h"

#include "test/cuda/ptx/exact.h"

#include <array>

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

bool isStore(const std::string &operation) {
  return isOneOf(operation, {"st", "stmatrix", "red", "atom"});
}

Loss lossInMemory(const std::string &operation, Stores stores) {
  // Sums of floats in memory are rounded, and what was there is not followed.
  bool sums = isOneOf(operation, {"red", "atom"}) && isOfFloats(operation);
  bool open = isStore(operation) && stores == Stores::open;
  return sums || open ? Loss::unknown : Loss::memory;
}

/// How a line may lose what is other, `floatBits`: among its operands.
Loss lossAt(const std::string &line, bool rounded, bool floatBits,
            Stores stores) {
  std::string operation = instructionOf(line).operation;
  if (isStore(operation) || isOneOf(operation, {"ld", "ldmatrix"}))
    return lossInMemory(operation, stores);
  // A lane whose value no lane takes.
  if (isOneOf(operation, {"selp", "slct", "shfl"}))
    return Loss::choice;
  if (isOneOf(operation, {"setp", "set"}))
    return Loss::comparison;
  if (isOneOf(operation, {"min", "max"}))
    return Loss::extreme;
  if (isOneOf(operation, {"abs", "neg"}))
    return Loss::bits;
  if (!isOfFloats(operation))
    return floatBits ? Loss::unknown : Loss::bits;
  bool known = ptx::arithmeticOf(line) != ptx::Arithmetic::none;
  return known && !rounded ? Loss::exact : Loss::unknown;
}

/// Of the kernel or of the mutant: either may bring a float to a line.
FloatBits floatBitsOfBoth(const Lines &lines, const Mutant &mutant) {
  FloatBits both = floatBitsOf(lines);
  both.readers.merge(floatBitsOf(mutant.lines).readers);
  return both;
}

std::set<Loss> lossesOf(const Lines &lines, const Mutant &mutant,
                        const ptx::Difference &difference, Stores stores) {
  std::set<Loss> losses;
  if (difference.lost.empty() && difference.carried.empty())
    return losses;
  FloatBits bits = floatBitsOfBoth(lines, mutant);
  for (int line : difference.lost)
    losses.insert(lossAt(lines[size_t(line) - 1],
                         difference.rounded.contains(line),
                         bits.readers.contains(line), stores));
  for (int line : difference.carried)
    if (bits.cutters.contains(line))
      losses.insert(Loss::unknown);
  // What is stored is followed: to who loads it, and to what comes out.
  losses.erase(Loss::memory);
  return losses;
}

/// Results are compared by their values: in another register they are another
/// result.
bool writesSameRegisters(const std::string &line, const std::string &changed) {
  InstructionText one = instructionOf(line), two = instructionOf(changed);
  return two.operation.empty() || one.destination == two.destination;
}

/// Instructions whose whole effect is in the registers that they write.
bool hasOtherEffect(const std::string &line) {
  return isOneOf(instructionOf(line).operation,
                 {"st", "red", "atom", "bar", "barrier", "bra", "ret", "exit",
                  "fence", "membar", "cp", "wgmma"});
}

/// Whether registers and memory are what they are without the change.
bool writesTheSame(const std::string &line, const Mutant &mutant,
                   const ptx::Difference &difference) {
  if (!writesSameRegisters(line, mutant.lines[mutant.line]))
    return false;
  bool registersOnly = mutant.kind == "register" || mutant.kind == "operands";
  return hasOtherEffect(line) ? registersOnly && !difference.otherOperands
                              : !difference.otherResult;
}

} // namespace

void mtc::test::merge(ptx::Difference &all, const ptx::Difference &one) {
  all.executed |= one.executed;
  all.otherWay |= one.otherWay;
  all.otherOperands |= one.otherOperands;
  all.otherResult |= one.otherResult;
  all.carried.insert(one.carried.begin(), one.carried.end());
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
  if (writesTheSame(line, mutant, difference))
    return "the line writes the same at every step";
  bool isPlainStore = isOneOf(instructionOf(line).operation, {"st"});
  if (hasOtherEffect(line) && (!isPlainStore || stores == Stores::open))
    return "";
  std::set<Loss> losses = lossesOf(lines, mutant, difference, stores);
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
    names.insert(instructionOf(lines[size_t(line) - 1]).operation +
                 (difference.rounded.contains(line) ? "~" : ""));
  for (int line : difference.through)
    names.insert("through " + instructionOf(lines[size_t(line) - 1]).operation);
  if (difference.otherWay)
    names.insert("another way");
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}
