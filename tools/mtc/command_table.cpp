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
    if (!option->get_group().empty()) // else it is hidden
      entry.options.push_back(entryOf(*option));
  return entry;
}

void addTo(std::vector<CommandEntry> &table, const CLI::App &app,
           const std::string &name) {
  table.push_back(entryOf(app, name));
  auto isShown = [](const CLI::App *sub) { return !sub->get_group().empty(); };
  for (const CLI::App *sub : app.get_subcommands(isShown))
    addTo(table, *sub, name + " " + sub->get_name());
}

} // namespace

std::vector<CommandEntry> commandTable(const CLI::App &app) {
  std::vector<CommandEntry> table;
  addTo(table, app, "mtc");
  return table;
}

std::vector<const CommandEntry *>
subcommandsOf(const CommandEntry &command,
              const std::vector<CommandEntry> &table) {
  std::vector<const CommandEntry *> found;
  for (const CommandEntry &entry : table)
    if (entry.parent() == command.name)
      found.push_back(&entry);
  return found;
}

} // namespace mtc::tool
