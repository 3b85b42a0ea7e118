//===- pages_command.cpp - mtc pages --------------------------------------===//
//
// Called by the build, so that manual pages and completions are installed.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/file.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/completion.h"
#include "tools/mtc/manual.h"
#include "tools/mtc/version.h"

#include <CLI/CLI.hpp>

#include <memory>

using mtc::runtime::Status;

namespace mtc::tool {
namespace {

Status write(const std::string &folder, const std::string &name,
             const std::string &text) {
  MTC_RETURN_IF_ERROR(runtime::makeFolders(folder));
  return runtime::writeTextFile(folder + "/" + name, text);
}

Status writePages(const CLI::App &app, const std::string &folder) {
  std::vector<CommandEntry> table = commandTable(app);
  for (size_t i = 0; i < table.size(); ++i)
    MTC_RETURN_IF_ERROR(write(folder + "/man/man1", manualName(table[i]),
                              manualPage(table, i, versionName())));
  MTC_RETURN_IF_ERROR(write(folder + "/bash-completion/completions", "mtc",
                            bashCompletion(table)));
  MTC_RETURN_IF_ERROR(
      write(folder + "/zsh/site-functions", "_mtc", zshCompletion(table)));
  return write(folder + "/fish/vendor_completions.d", "mtc.fish",
               fishCompletion(table));
}

} // namespace

void addPages(CLI::App &app, Action &action) {
  auto folder = std::make_shared<std::string>();
  CLI::App *sub = app.add_subcommand(
      "pages", "writes manual pages and completions of shells");
  sub->group(""); // not shown: it is there for the build
  sub->add_option("folder", *folder, "as share/ of an installation")
      ->required();
  sub->callback([folder, &app, &action] {
    action = [folder, &app] { return writePages(app, *folder); };
  });
}

} // namespace mtc::tool
