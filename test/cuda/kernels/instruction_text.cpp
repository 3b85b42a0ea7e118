//===- instruction_text.cpp - what a text of PTX says of itself -----------===//
#include "instruction_text.h"

#include <algorithm>
#include <cctype>

using namespace mtc::test;

namespace {

constexpr const char *kBlanks = " \t\r\n";

bool isName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%';
}

std::string trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos)
    return "";
  size_t last = text.find_last_not_of(kBlanks);
  return std::string(text.substr(first, last - first + 1));
}

/// Behind the first operand: a comma that no brace or bracket is around.
size_t endOfFirst(const std::string &operands) {
  int depth = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    char c = operands[i];
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == ',' && depth == 0)
      return i;
  }
  return operands.size();
}

InstructionText partsOf(std::string text, int line) {
  if (text.starts_with("@"))
    text = trimmed(
        text.substr(std::min(text.find_first_of(kBlanks), text.size())));
  size_t end = std::min(text.find_first_of(kBlanks), text.size());
  InstructionText parts{line, text.substr(0, end), "", ""};
  std::string operands = trimmed(text.substr(end));
  size_t comma = endOfFirst(operands);
  parts.destination = trimmed(operands.substr(0, comma));
  parts.sources =
      trimmed(operands.substr(std::min(comma + 1, operands.size())));
  // Of a store the first operand is an address.
  if (parts.destination.starts_with("[")) {
    parts.sources = operands;
    parts.destination.clear();
  }
  return parts;
}

/// Cuts a text into instructions, character by character.
class Cutter {
public:
  explicit Cutter(std::vector<InstructionText> &found) : found(found) {}

  void line(std::string_view text, int number) {
    text = text.substr(0, text.find("//"));
    for (char c : text)
      next(c, number);
    // What is not an instruction ends with its line: .loc has no semicolon.
    if (!current.empty() && !isName(current[0]) && current[0] != '@')
      end();
    else if (!current.empty())
      current += ' ';
  }

  void end() {
    if (std::string text = trimmed(current); !text.empty())
      found.push_back(partsOf(std::move(text), start));
    current.clear();
  }

private:
  void next(char c, int number) {
    bool blank = std::string_view(kBlanks).find(c) != std::string_view::npos;
    if (c == ';')
      return end();
    if (current.empty() && (blank || c == '{' || c == '}'))
      return;
    if (current.empty())
      start = number;
    current += c;
    if (c == ':' && isLabel())
      current.clear();
  }

  bool isLabel() const {
    for (size_t i = 0; i + 1 < current.size(); ++i)
      if (!isName(current[i]))
        return false;
    return true;
  }

  std::vector<InstructionText> &found;
  std::string current;
  int start = 0;
};

} // namespace

std::vector<InstructionText>
mtc::test::instructionsOf(const std::vector<std::string> &lines) {
  std::vector<InstructionText> found;
  Cutter cutter(found);
  for (size_t i = 0; i < lines.size(); ++i)
    cutter.line(lines[i], static_cast<int>(i) + 1);
  cutter.end();
  return found;
}

InstructionText mtc::test::instructionOf(const std::string &line) {
  std::vector<InstructionText> found = instructionsOf({line});
  return found.empty() ? InstructionText() : found.front();
}

std::vector<std::string> mtc::test::namesIn(std::string_view operands) {
  std::vector<std::string> names;
  for (size_t i = 0; i < operands.size();) {
    size_t end = i;
    while (end < operands.size() && isName(operands[end]))
      ++end;
    if (end > i && !std::isdigit(static_cast<unsigned char>(operands[i])))
      names.emplace_back(operands.substr(i, end - i));
    i = end + 1;
  }
  return names;
}

bool mtc::test::isOneOf(const std::string &operation,
                        std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (operation.starts_with(std::string(name) + "."))
      return true;
  return false;
}

bool mtc::test::isOfFloats(const std::string &operation) {
  for (const char *type : {".f16", ".f32", ".f64", ".bf16", ".e4m3", ".e5m2"})
    if (operation.find(type) != operation.npos)
      return true;
  return false;
}
