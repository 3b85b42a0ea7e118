//===- main.cpp - the mtc command -----------------------------------------===//

#include "tools/mtc/commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <iostream>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

static int finish(const Status &status) {
  if (!status.ok())
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return static_cast<int>(status.code());
}

static int parseAndRun(int argc, char **argv) {
  CLI::App app("mtc: compiles and trains transformers in parallel");
  app.set_version_flag("--version", MTC_VERSION);
  app.require_subcommand(1);
  mtc::tool::Action action;
  mtc::tool::addCompile(app, action);
  mtc::tool::addRun(app, action);
  mtc::tool::addInspect(app, action);
  mtc::tool::addHelp(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) { // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "error: %s\nsee mtc --help\n", error.what());
    return static_cast<int>(StatusCode::usage);
  }
  return finish(action ? action() : Status::okay());
}

int main(int argc, char **argv) {
  try {
    return parseAndRun(argc, argv);
  } catch (const std::exception &error) {
    return finish({StatusCode::internal, error.what()});
  }
}
