//===- flight_command.cpp - mtc flight ------------------------------------===//

#include "mtc/runtime/flight.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

namespace mtc::tool {
namespace {

struct FlightCommand {
  std::string folder;
  bool json = false;
};

runtime::Status runFlight(const FlightCommand &command) {
  std::string text;
  MTC_RETURN_IF_ERROR(
      runtime::describeFlight(command.folder, command.json, text));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return runtime::Status::okay();
}

} // namespace

void addFlight(CLI::App &app, Action &action) {
  auto command = std::make_shared<FlightCommand>();
  CLI::App *sub =
      app.add_subcommand("flight", "says who held a run up that died or hung");
  sub->footer("examples:\n  mtc flight ckpt/flight");
  sub->add_option("folder", command->folder,
                  "what mtc run --flight DIR wrote: a record of each rank")
      ->required();
  sub->add_flag("--json", command->json, "as JSON");
  sub->callback([command, &action] {
    action = [command] { return runFlight(*command); };
  });
}

} // namespace mtc::tool
