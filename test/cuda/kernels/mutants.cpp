//===- mutants.cpp - PTX with one thing changed ---------------------------===//
#include "mutants.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>
#include <sstream>

using namespace mtc::test;

namespace {

using Lines = std::vector<std::string>;

size_t pick(std::mt19937 &rng, size_t n) { return rng() % n; }

/// A line of a body that does something.
bool isInstruction(const std::string &line) {
  return line.size() > 2 && line[0] == '\t' && line.back() == ';' &&
         line.find('.') != std::string::npos && line[1] != '.' &&
         line.find("ld.param") == std::string::npos;
}

bool replace(std::string &line, const std::string &from,
             const std::string &to) {
  size_t at = line.find(from);
  if (at == std::string::npos)
    return false;
  line.replace(at, from.size(), to);
  return true;
}

/// Another operation of the same operands.
bool changeOperation(std::string &line, std::mt19937 &rng) {
  static const std::array<std::pair<const char *, const char *>, 22> pairs = {
      {{"add.rn", "sub.rn"}, {"sub.rn", "add.rn"},
       {"mul.rn", "add.rn"}, {"div.rn", "mul.rn"},
       {"max.", "min."},     {"min.", "max."},
       {".lt.", ".le."},     {".le.", ".lt."},
       {".gt.", ".ge."},     {".ge.", ".gt."},
       {".eq.", ".ne."},     {".ne.", ".eq."},
       {"and.b", "or.b"},    {"\tor.b", "\txor.b"},
       {"xor.b", "or.b"},    {"shl.", "shr."},
       {"add.s", "sub.s"},   {"sub.s", "add.s"},
       {"@%", "@!%"},        {"@!%", "@%"},
       {".bfly", ".down"},   {"mul.wide.u32", "mul.wide.s32"}}};
  size_t start = pick(rng, pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto [from, to] = pairs[(start + i) % pairs.size()];
    if (replace(line, from, to))
      return true;
  }
  return false;
}

/// A number among the operands becomes its neighbour, half of it or twice it.
bool changeNumber(std::string &line, std::mt19937 &rng) {
  static const std::regex number("([ +])(-?[0-9]{1,17})([,;\\]])");
  std::smatch found;
  if (!std::regex_search(line, found, number))
    return false;
  long long n = std::stoll(found[2]);
  const long long others[] = {n + 1, n - 1, n / 2, n * 2};
  long long other = others[pick(rng, 4)];
  if (other == n)
    other = n + 1;
  line.replace(found.position(2), found.length(2), std::to_string(other));
  return true;
}

/// A bit of a float constant.
bool changeFloat(std::string &line, std::mt19937 &rng) {
  size_t at = line.find("0f");
  if (at == std::string::npos || at + 10 > line.size())
    return false;
  unsigned long bits = std::stoul(line.substr(at + 2, 8), nullptr, 16);
  bits ^= 1ul << pick(rng, 32);
  char text[9];
  std::snprintf(text, sizeof text, "%08lX", bits & 0xffffffff);
  line.replace(at + 2, 8, text);
  return true;
}

/// Where registers are in a line, the first left out: mostly the result.
std::vector<std::pair<size_t, size_t>> sources(const std::string &line) {
  static const std::regex name("%[a-z]+[0-9]+");
  std::vector<std::pair<size_t, size_t>> found;
  for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end;
       ++it)
    found.emplace_back(it->position(), it->length());
  if (!found.empty())
    found.erase(found.begin());
  return found;
}

bool swapOperands(std::string &line) {
  auto at = sources(line);
  if (at.size() < 2)
    return false;
  auto [x, n] = at[at.size() - 2];
  auto [y, m] = at[at.size() - 1];
  std::string first = line.substr(x, n), second = line.substr(y, m);
  if (first == second)
    return false;
  line.replace(y, m, first);
  line.replace(x, n, second);
  return true;
}

/// An operand becomes a neighbouring register of its kind.
bool changeRegister(std::string &line, std::mt19937 &rng) {
  auto at = sources(line);
  if (at.empty())
    return false;
  auto [x, n] = at[pick(rng, at.size())];
  std::string name = line.substr(x, n);
  size_t digits = name.find_first_of("0123456789");
  long long number = std::stoll(name.substr(digits));
  long long other = number > 1 && pick(rng, 2) ? number - 1 : number + 1;
  line.replace(x, n, name.substr(0, digits) + std::to_string(other));
  return true;
}

} // namespace

Lines mtc::test::linesOf(const std::string &module, const Lines &entries) {
  std::istringstream text(module);
  Lines lines;
  bool keeps = true;
  for (std::string line; std::getline(text, line);) {
    size_t at = line.find(".entry ");
    if (at != std::string::npos) {
      std::string name = line.substr(at + 7, line.find('(') - at - 7);
      keeps = std::ranges::count(entries, name) > 0;
    }
    if (keeps)
      lines.push_back(line);
    if (line == "}")
      keeps = true;
  }
  return lines;
}

Mutant mtc::test::makeMutant(const Lines &lines, std::mt19937 &rng) {
  Mutant m{"", 0, lines};
  std::vector<size_t> instructions;
  for (size_t i = 0; i < lines.size(); ++i)
    if (isInstruction(lines[i]))
      instructions.push_back(i);
  if (instructions.empty())
    return m;
  m.line = instructions[pick(rng, instructions.size())];
  std::string &line = m.lines[m.line];
  static const char *const kinds[] = {"drop",  "operation", "number",
                                      "float", "operands",  "register"};
  size_t kind = pick(rng, std::size(kinds));
  bool changed = kind == 0   ? (line = "", true)
                 : kind == 1 ? changeOperation(line, rng)
                 : kind == 2 ? changeNumber(line, rng)
                 : kind == 3 ? changeFloat(line, rng)
                 : kind == 4 ? swapOperands(line)
                             : changeRegister(line, rng);
  if (changed)
    m.kind = kinds[kind];
  return m;
}

bool mtc::test::isExchange(const std::string &line,
                           const std::string &changed) {
  static const std::regex operation(
      "^\t(?:add|mul|min|max|and|or|xor|fma|mad|setp\\.(?:eq|ne))\\.[^\t]*\t"
      "[^,]*, ([^,;]*), ([^,;]*)([,;].*)$");
  std::smatch one, two;
  return std::regex_search(line, one, operation) &&
         std::regex_search(changed, two, operation) && one[1] == two[2] &&
         one[2] == two[1] && one[3] == two[3] &&
         line.substr(0, static_cast<size_t>(one.position(1))) ==
             changed.substr(0, static_cast<size_t>(two.position(1)));
}
