//===- completion.cpp - completion of command lines in shells -------------===//

#include "tools/mtc/completion.h"

#include <fmt/format.h>

namespace mtc::tool {
namespace {

/// What a command takes in the place of its first words, and who says it.
struct Words {
  std::string command;
  int place; ///< 1: the word behind the command
  std::string asker;
};

std::string words(const std::vector<const CommandEntry *> &commands) {
  std::string words;
  for (const CommandEntry *command : commands)
    words += (words.empty() ? "" : " ") + command->word();
  return words;
}

/// The commands of mtc itself.
std::vector<const CommandEntry *>
topCommands(const std::vector<CommandEntry> &table) {
  return subcommandsOf(table.front(), table);
}

std::vector<Words> askersOf(const std::vector<CommandEntry> &table) {
  std::vector<Words> askers = {
      {"compile", 1, "mtc help specs 2>/dev/null"},
      {"lint", 1, "mtc help specs 2>/dev/null"},
      {"lint", 2, "mtc help strategies 2>/dev/null"},
      {"schedule", 1, "printf \"%s\\n\" show list"},
      {"schedule", 2, "mtc schedule list 2>/dev/null | cut -d\" \" -f1"}};
  for (const CommandEntry *command : topCommands(table))
    if (auto subcommands = subcommandsOf(*command, table); !subcommands.empty())
      askers.push_back(
          {command->word(), 1, "printf \"%s\\n\" " + words(subcommands)});
  return askers;
}

std::string flagsOf(const CommandEntry &command) {
  std::string flags;
  for (const OptionEntry &option : command.options)
    for (const std::string &flag : option.flags)
      flags += (flags.empty() ? "" : " ") + flag;
  return flags;
}

/// A text between single quotes, with `before` before each of `special`.
std::string quoted(const std::string &text, const std::string &special,
                   const char *quote) {
  std::string out = "'";
  for (char c : text)
    if (c == '\'')
      out += quote;
    else if (special.find(c) != special.npos)
      out += std::string("\\") + c;
    else
      out += c;
  return out + "'";
}

/// "'-o[folder]:TEXT:_files'" and the like, an argument of _arguments.
std::string zshOption(const OptionEntry &option) {
  auto text = [](const std::string &words) {
    std::string inner = quoted(words, "[]:\\", "'\\''");
    return inner.substr(1, inner.size() - 2);
  };
  if (option.flags.empty())
    return fmt::format(" \\\n      '{}:{}:_mtc_files'",
                       option.required ? "" : ":", text(option.name));
  std::string out;
  for (const std::string &flag : option.flags)
    out += fmt::format(
        " \\\n      '*{}[{}]{}'", flag, text(option.what),
        option.takesValue ? fmt::format(":{}:_files", text(option.name)) : "");
  return out;
}

std::string zshArguments(const CommandEntry &command, bool hasSubcommands) {
  std::string text = "    _arguments -s";
  for (const OptionEntry &option : command.options)
    text += zshOption(option);
  if (hasSubcommands)
    text += " \\\n      ':command:_mtc_files'";
  return text + " ;;\n";
}

std::string fishOption(const std::string &condition,
                       const OptionEntry &option) {
  std::string text = "complete -c mtc -n " + quoted(condition, "", "\\'");
  for (const std::string &flag : option.flags)
    text += flag.starts_with("--") ? " -l " + flag.substr(2)
                                   : " -s " + flag.substr(1);
  return fmt::format("{}{} -d {}\n", text, option.takesValue ? " -r" : "",
                     quoted(option.what, "\\", "\\'"));
}

std::string fishOptions(const std::string &condition,
                        const CommandEntry &command) {
  std::string text;
  for (const OptionEntry &option : command.options)
    if (!option.flags.empty())
      text += fishOption(condition, option);
  return text;
}

} // namespace

std::string bashCompletion(const std::vector<CommandEntry> &table) {
  std::string cases, askers;
  for (const CommandEntry *command : topCommands(table)) {
    for (const CommandEntry *sub : subcommandsOf(*command, table))
      cases += fmt::format("  \"{} {}\") flags=\"{}\" ;;\n", command->word(),
                           sub->word(), flagsOf(*sub));
    cases += fmt::format("  \"{} \"*) flags=\"{}\" ;;\n", command->word(),
                         flagsOf(*command));
  }
  for (const Words &w : askersOf(table))
    askers += fmt::format("    [[ ${{COMP_WORDS[1]}} == {} ]] && "
                          "((COMP_CWORD == {})) &&\n      mapfile -t COMPREPLY "
                          "< <(compgen -W \"$({})\" -- \"$word\")\n",
                          w.command, w.place + 1, w.asker);
  return fmt::format(R"sh(# bash completion of mtc, written by mtc itself
_mtc() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} flags
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{}  *) flags="{}" ;;
  esac
  COMPREPLY=()
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "{}" -- "$word")
  else
{}    compopt -o filenames 2>/dev/null
    mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -F _mtc mtc
)sh",
                     cases, flagsOf(table.front()), words(topCommands(table)),
                     askers);
}

std::string zshCompletion(const std::vector<CommandEntry> &table) {
  std::string cases, commands, askers;
  for (const Words &w : askersOf(table))
    askers += fmt::format("  [[ $mtc_command == {} ]] && ((CURRENT == {})) && "
                          "compadd -- $({})\n",
                          w.command, w.place + 1, w.asker);
  for (const CommandEntry *command : topCommands(table)) {
    std::string line = command->word() + ":" + command->what;
    commands += fmt::format("    {}\n", quoted(line, "", "'\\''"));
    auto subcommands = subcommandsOf(*command, table);
    for (const CommandEntry *sub : subcommands)
      cases +=
          fmt::format("  '{0} {1}')\n    mtc_command='{0} {1}'\n"
                      "    shift words\n    ((CURRENT--))\n{2}",
                      command->word(), sub->word(), zshArguments(*sub, false));
    cases += fmt::format("  '{} '*)\n{}", command->word(),
                         zshArguments(*command, !subcommands.empty()));
  }
  return fmt::format(R"sh(#compdef mtc
# zsh completion of mtc, written by mtc itself
_mtc_files() {{
{}  _files
}}
_mtc() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local mtc_command=$words[2]
  shift words
  ((CURRENT--))
  case "$mtc_command $words[2]" in
{}  esac
}}
_mtc "$@"
)sh",
                     askers, commands, cases);
}

std::string fishCompletion(const std::vector<CommandEntry> &table) {
  std::string text = "# fish completion of mtc, written by mtc itself\n";
  for (const CommandEntry *command : topCommands(table)) {
    text +=
        fmt::format("complete -c mtc -n __fish_use_subcommand -f -a {} -d {}\n",
                    command->word(), quoted(command->what, "\\", "\\'"));
    std::string seen = "__fish_seen_subcommand_from " + command->word();
    text += fishOptions(seen, *command);
    for (const CommandEntry *sub : subcommandsOf(*command, table))
      text += fishOptions(
          seen + "; and __fish_seen_subcommand_from " + sub->word(), *sub);
  }
  for (const Words &w : askersOf(table))
    text +=
        fmt::format("complete -c mtc -n '__fish_seen_subcommand_from {}; and "
                    "test (count (commandline -opc)) -eq {}' -a '({})'\n",
                    w.command, w.place + 1, w.asker);
  return text;
}

} // namespace mtc::tool
