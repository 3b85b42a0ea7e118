//===- mutate_text.cpp - one instruction of a PTX text changed ------------===//
//
//   mutate_text SEED < TEXT > MUTANT
//
// The text with one instruction changed, as mutate_cases changes those of
// cases; on standard error the kind of the change, the line's number from 0 on
// and whether its operands are exchanged that may be.
//
//   mutate_text rule KIND LINE TEXT MUTANT TRACE TRACE
//
// The rule by which a text and its mutant did the same, or nothing: of both
// the driver's stand-in wrote a trace (MTC_STANDIN_TRACE) of that line. On
// standard error where what is other got lost.
//
//===----------------------------------------------------------------------===//
#include "equivalence.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

using namespace mtc;
using namespace mtc::test;

namespace {

std::vector<std::string> linesOf(std::istream &text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  return lines;
}

int tellRule(char **words) {
  size_t line = std::stoul(words[1]);
  std::ifstream text(words[2]), changed(words[3]);
  Mutant mutant{words[0], line, linesOf(changed)};
  std::vector<std::string> lines = linesOf(text);
  int number = static_cast<int>(line) + 1;
  ptx::Trace first(number), second(number);
  if (line >= lines.size() || !first.load(words[4]) || !second.load(words[5])) {
    std::cerr << "expected a line of " << words[2] << " and two traces, found "
              << line << ", " << words[4] << ", " << words[5] << "\n";
    return 2;
  }
  ptx::Difference difference = compare(first, second);
  for (int each : difference.through)
    if (lines[size_t(each) - 1].find("ld.param") != std::string::npos) {
      std::cerr << "expected traces of the same addresses, found others\n";
      return 2;
    }
  std::cout << ruleOf(lines, mutant, difference, Stores::open) << "\n";
  std::cerr << lostIn(lines, difference) << "\n";
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  std::string word = argc > 1 ? argv[1] : "";
  if (word == "rule" && argc == 8)
    return tellRule(argv + 2);
  if (argc != 2) {
    std::cerr << "usage: mutate_text SEED | rule KIND LINE TEXT MUTANT TRACE "
                 "TRACE\n";
    return 2;
  }
  std::vector<std::string> lines = linesOf(std::cin);
  std::mt19937 rng(static_cast<unsigned>(std::stoul(word)));
  Mutant mutant = makeMutant(lines, rng);
  bool equal = isExchange(lines[mutant.line], mutant.lines[mutant.line]);
  std::cerr << mutant.kind << "\n" << mutant.line << "\n" << equal << "\n";
  for (const std::string &line : mutant.lines)
    std::cout << line << "\n";
}
