//===- doctor_command.cpp - mtc doctor ------------------------------------===//

#include "compiler/install.h"
#include "mtc/runtime/doctor.h"
#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>

namespace mtc::tool {

void addDoctor(CLI::App &app, Action &action) {
  auto json = std::make_shared<bool>(false);
  CLI::App *sub = app.add_subcommand(
      "doctor", "says what this machine can run, and what it lacks");
  sub->footer("examples:\n  mtc doctor");
  sub->add_flag("--json", *json, "as JSON");
  sub->callback([json, &action] {
    action = [json] {
      const std::string text = runtime::describeMachine(
          compiler::installFolder() + "/lib/mtc/mpi", *json);
      std::fwrite(text.data(), 1, text.size(), stdout);
      return runtime::Status::okay();
    };
  });
}

} // namespace mtc::tool
