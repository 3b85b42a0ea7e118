//===- key_page.cpp - keys of files as help and as pages ------------------===//

#include "tools/mtc/key_page.h"

#include <algorithm>

#include <fmt/format.h>

namespace mtc::tool {
namespace {

std::string code(const std::string &text) {
  return text.empty() ? "" : "`" + text + "`";
}

/// "`--seq-length` `--seq`": a code each, which browsers may put on two lines.
std::string codes(const std::string &options) {
  std::string text;
  for (char c : options)
    text += c == ',' ? std::string("`") : c == ' ' ? " `" : std::string(1, c);
  return text.empty() ? "" : "`" + text + "`";
}

std::string defaultOf(const KeyRow &row) {
  return row.isRequired ? "required" : row.defaultText;
}

/// A column that says nothing about any key is left out.
bool has(const KeyTable &table, std::string (*column)(const KeyRow &)) {
  return std::ranges::any_of(
      table.rows, [&](const KeyRow &row) { return !column(row).empty(); });
}

std::string markdownTable(const KeyTable &table) {
  bool options = has(table, [](const KeyRow &row) { return row.options; });
  bool defaults = has(table, defaultOf);
  std::string text =
      fmt::format("| key |{} type |{} meaning | example |\n"
                  "|---|{}---|{}---|---|\n",
                  options ? " option |" : "", defaults ? " default |" : "",
                  options ? "---|" : "", defaults ? "---|" : "");
  for (const KeyRow &row : table.rows)
    text += fmt::format("| `{}` |{} {} |{} {} | {} |\n", row.key,
                        options ? " " + codes(row.options) + " |" : "",
                        row.type, defaults ? " " + defaultOf(row) + " |" : "",
                        row.meaning, code(row.example));
  return text;
}

std::string textOf(const KeyRow &row, size_t width) {
  std::string text = fmt::format("{:{}}  {}", row.key, width, row.meaning);
  text += "; " + row.type;
  if (!defaultOf(row).empty())
    text += (row.isRequired ? "; " : "; default ") + defaultOf(row);
  if (!row.options.empty())
    text += "; " + row.options;
  return text + "\n";
}

} // namespace

std::string toText(const KeyPage &page) {
  size_t width = 0;
  for (const KeyTable &table : page.tables)
    for (const KeyRow &row : table.rows)
      width = std::max(width, row.key.size());
  std::string text;
  for (const KeyTable &table : page.tables) {
    if (!table.heading.empty())
      text += (text.empty() ? "" : "\n") + table.heading + "\n";
    for (const KeyRow &row : table.rows)
      text += textOf(row, width);
  }
  return text;
}

std::string toMarkdown(const KeyPage &page) {
  std::string text = fmt::format("# {}\n\n{}\n", page.title, page.intro);
  for (const KeyTable &table : page.tables) {
    if (!table.heading.empty())
      text += "\n## " +
              (table.heading[0] == '[' ? code(table.heading) : table.heading) +
              "\n";
    text += "\n" + markdownTable(table);
  }
  return page.closing.empty() ? text : text + "\n" + page.closing + "\n";
}

} // namespace mtc::tool
