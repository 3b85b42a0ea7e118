//===- command_table.cpp - the command line as plain values ---------------===//

#include "tools/mtc/command_table.h"

#include <CLI/CLI.hpp>

namespace mtc::tool {
namespace {

OptionEntry entryOf(const CLI::Option &option) {
  OptionEntry entry;
  for (const std::string &name : option.get_snames())
    entry.flags.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    entry.flags.push_back("--" + name);
  entry.takesValue = option.get_items_expected_max() > 0;
  entry.name = option.get_positional() ? option.get_name(/*positional=*/true)
                                       : option.get_type_name();
  entry.what = option.get_description();
  entry.group = option.get_group();
  entry.required = option.get_required();
  return entry;
}

CommandEntry entryOf(const CLI::App &app, const std::string &name) {
  CommandEntry entry{name, app.get_description(), app.get_footer(), {}};
  for (const CLI::Option *option : app.get_options())
    entry.options.push_back(entryOf(*option));
  return entry;
}

} // namespace

std::vector<CommandEntry> commandTable(const CLI::App &app) {
  std::string name = "mtc";
  std::vector<CommandEntry> table = {entryOf(app, name)};
  auto isShown = [](const CLI::App *sub) { return !sub->get_group().empty(); };
  for (const CLI::App *sub : app.get_subcommands(isShown))
    table.push_back(entryOf(*sub, name + " " + sub->get_name()));
  return table;
}

} // namespace mtc::tool
