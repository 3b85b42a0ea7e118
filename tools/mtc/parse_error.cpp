//===- parse_error.cpp - what is wrong with a command line ----------------===//

#include "tools/mtc/parse_error.h"

#include "models/nearest.h"

#include <algorithm>

#include <fmt/format.h>

namespace mtc::tool {
namespace {

/// The last of the subcommands that were given, else the command itself; adds
/// their names to `name`.
const CLI::App &givenPart(const CLI::App &app, std::string &name) {
  std::vector<CLI::App *> given = const_cast<CLI::App &>(app).get_subcommands();
  if (given.empty())
    return app;
  name += " " + given.front()->get_name();
  return givenPart(*given.front(), name);
}

/// Beginnings of a name are further away than typing errors, so they come
/// first.
std::string nearest(const std::string &word,
                    const std::vector<std::string> &names) {
  for (const std::string &name : names)
    if (!word.empty() && name.starts_with(word))
      return name;
  std::vector<std::string_view> views(names.begin(), names.end());
  return models::nearestName(word, views);
}

std::string unknownOption(const CLI::App &part, const std::string &argument) {
  std::vector<std::string> names;
  for (const CLI::Option *option : part.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back(name);
  std::string flag = argument.substr(0, argument.find('='));
  std::string near = nearest(flag.substr(flag.find_first_not_of('-')), names);
  return fmt::format("unknown option '{}'{}", flag,
                     near.empty() ? ", expected one of the command's options"
                                  : ", did you mean '--" + near + "'?");
}

std::string unknownSubcommand(const CLI::App &app,
                              const std::string &argument) {
  std::vector<std::string> names;
  for (const CLI::App *sub : app.get_subcommands(
           static_cast<std::function<bool(const CLI::App *)>>(nullptr)))
    if (!sub->get_group().empty()) // else it is not shown
      names.push_back(sub->get_name());
  std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (argument.empty())
    return "expected a subcommand, found none; one of: " + all;
  std::string near = nearest(argument, names);
  return fmt::format("unknown subcommand '{}', {}", argument,
                     near.empty() ? "expected one of: " + all
                                  : "did you mean '" + near + "'?");
}

/// "--steps: At Most 1 required but received 2" in plain words.
std::string twice(const std::string &text) {
  constexpr std::string_view mark = ": At Most 1 required but received ";
  size_t at = text.find(mark);
  return at == std::string::npos
             ? text
             : fmt::format("{}: expected it at most once, found it {} times",
                           text.substr(0, at), text.substr(at + mark.size()));
}

/// Of the options of one command.
std::string swallowedBy(const CLI::App &part) {
  for (const CLI::Option *option : part.get_options()) {
    if (option->get_positional() || option->get_expected_min() == 0)
      continue;
    for (const std::string &result : option->results()) {
      std::string flag = result.substr(0, result.find('='));
      if (flag.starts_with('-') && part.get_option_no_throw(flag))
        return fmt::format("{}: expected its value, found the option '{}'",
                           option->get_name(), flag);
    }
  }
  return "";
}

bool isFlag(const std::string &argument) {
  return argument.find_first_not_of('-') != std::string::npos &&
         argument.starts_with('-');
}

/// Several corpora without weights are told from a bundle by nobody.
std::string adviceOnWords(const CLI::App &part) {
  const CLI::Option *data = part.get_option_no_throw("--data-path");
  return data && data->count() > 0
             ? "; several corpora are one argument: --data \"BOOKS CODE\""
             : "";
}

} // namespace

std::string swallowedOption(const CLI::App &app) {
  std::string name = "mtc", text = swallowedBy(givenPart(app, name));
  return text.empty() ? "" : fmt::format("{}\nsee {} --help", text, name);
}

std::string explain(const CLI::App &app, const CLI::ParseError &error) {
  std::string name = "mtc";
  const CLI::App &part = givenPart(app, name);
  std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  auto flag = std::find_if(rest.begin(), rest.end(), isFlag);
  std::string text;
  if (std::string taken = swallowedBy(part); !taken.empty())
    text = taken;
  else if (part.get_require_subcommand_min() > 0 && flag == rest.end())
    text = unknownSubcommand(part, rest.empty() ? "" : rest.front());
  else if (flag != rest.end())
    text = unknownOption(part, *flag);
  else if (!rest.empty())
    text = fmt::format("expected no further argument, found '{}'{}",
                       rest.front(), adviceOnWords(part));
  else
    text = twice(error.what());
  return fmt::format("{}\nsee {} --help", text, name);
}

} // namespace mtc::tool
