//===- mutate_text.cpp - one instruction of a PTX text changed ------------===//
//
//   mutate_text SEED < TEXT > MUTANT
//
// The text with one instruction changed, as mutate_cases changes those of
// cases; on standard error the kind of the change, the line's number from 0 on
// and whether its operands are exchanged that may be. With the word "trap" for
// SEED and a number behind it that line becomes a trap.
//
//===----------------------------------------------------------------------===//
#include "mutants.h"

#include <iostream>
#include <iterator>
#include <sstream>

using namespace mtc::test;

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: mutate_text SEED | trap LINE\n";
    return 2;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);)
    lines.push_back(line);
  std::string seed = argv[1];
  if (seed == "trap" && argc == 3) {
    lines.at(std::stoul(argv[2])) = "\ttrap;";
  } else {
    std::mt19937 rng(static_cast<unsigned>(std::stoul(seed)));
    Mutant mutant = makeMutant(lines, rng);
    bool equal = isExchange(lines[mutant.line], mutant.lines[mutant.line]);
    std::cerr << mutant.kind << "\n" << mutant.line << "\n" << equal << "\n";
    lines = mutant.lines;
  }
  for (const std::string &line : lines)
    std::cout << line << "\n";
}
