//===- manual.cpp - manual pages ------------------------------------------===//

#include "tools/mtc/manual.h"

#include <algorithm>

#include <fmt/format.h>

namespace mtc::tool {
namespace {

/// Text that roff prints as it is: "-" is a minus, and no line is a request.
std::string plain(const std::string &text) {
  std::string out;
  for (char c : text) {
    bool startsLine = out.empty() || out.back() == '\n';
    if (startsLine && (c == '.' || c == '\''))
      out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

/// "mtc-compile", as pages are called.
std::string pageName(const CommandEntry &command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string synopsis(const CommandEntry &command, bool hasCommands) {
  std::string text =
      fmt::format("\\fB{}\\fR [\\fIOPTIONS\\fR]", plain(command.name));
  for (const OptionEntry &option : command.options)
    if (option.flags.empty()) {
      std::string name = "\\fI" + plain(option.name) + "\\fR";
      text += option.required ? " " + name : " [" + name + "]";
    }
  return text + (hasCommands ? " \\fICOMMAND\\fR ..." : "") + "\n";
}

std::string optionText(const OptionEntry &option) {
  std::string heads;
  for (const std::string &flag : option.flags)
    heads += (heads.empty() ? "\\fB" : ", \\fB") + plain(flag) + "\\fR";
  if (option.flags.empty() || option.takesValue)
    heads += (heads.empty() ? "\\fI" : " \\fI") + plain(option.name) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", heads, plain(option.what));
}

/// Headings of roff are upper case by habit; the help's are not.
std::string upper(std::string text) {
  for (char &c : text)
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// Options under the headings of their groups, in the order of the help.
std::string options(const CommandEntry &command) {
  std::vector<std::string> groups;
  for (const OptionEntry &option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  std::string text;
  for (const std::string &group : groups) {
    text += fmt::format(".SH {}\n", plain(upper(group)));
    for (const OptionEntry &option : command.options)
      if (option.group == group)
        text += optionText(option);
  }
  return text;
}

std::string commands(const std::vector<const CommandEntry *> &list) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandEntry *command : list)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", plain(pageName(*command)),
                        plain(command->what));
  return text;
}

std::string seeAlso(const std::vector<CommandEntry> &table, size_t index) {
  std::string text;
  for (size_t i = 0; i < table.size(); ++i)
    if (i != index)
      text += fmt::format("{}\\fB{}\\fR(1)", text.empty() ? "" : ",\n",
                          plain(pageName(table[i])));
  return ".SH SEE ALSO\n" + text + "\n";
}

} // namespace

std::string manualName(const CommandEntry &command) {
  return pageName(command) + ".1";
}

std::string manualPage(const std::vector<CommandEntry> &table, size_t index,
                       const std::string &version) {
  const CommandEntry &command = table[index];
  std::string name = plain(pageName(command));
  std::vector<const CommandEntry *> subcommands = subcommandsOf(command, table);
  // No date: equal sources give equal pages.
  std::string text =
      fmt::format(".TH {} 1 \"\" \"{}\" \"mtc\"\n.SH NAME\n{} \\- {}\n"
                  ".SH SYNOPSIS\n{}",
                  upper(name), plain(version), name, plain(command.what),
                  synopsis(command, !subcommands.empty()));
  text += options(command);
  if (!subcommands.empty())
    text += commands(subcommands);
  if (!command.examples.empty())
    text += ".SH EXAMPLES\n.nf\n" + plain(command.examples) + "\n.fi\n";
  return text +
         ".SH EXIT STATUS\n0 when it is done; \\fBmtc help exit\\-codes\\fR "
         "lists the others.\n" +
         seeAlso(table, index);
}

} // namespace mtc::tool
