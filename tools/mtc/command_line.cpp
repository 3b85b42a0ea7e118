//===- command_line.cpp - an executable of several subcommands ------------===//

#include "tools/mtc/command_line.h"

#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "tools/mtc/megatron_options.h"
#include "tools/mtc/parse_error.h"
#include "tools/mtc/standard_files.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>
#include <unistd.h>

namespace mtc::tool {

using runtime::firstLines;
using runtime::printable;
using runtime::Status;
using runtime::StatusCode;

namespace {

int finish(const Status &status) {
  std::signal(SIGPIPE, SIG_IGN); // or nobody reads: the code says it all
  // A difference between plans is said on standard output.
  if (!status.ok() && !status.message().empty() &&
      mtc::runtime::isWritable(STDERR_FILENO, mtc::runtime::kPatience))
    std::fprintf(stderr, "error: %s\n",
                 printable(firstLines(status.message())).c_str());
  return static_cast<int>(status.code());
}

/// Standard output may be a full disk, which only a flush finds out.
Status flushOutput() {
  bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout))
    return Status::okay();
  std::string why = flushed ? "an earlier write failed" : std::strerror(errno);
  return {StatusCode::writeFailed, "cannot write to standard output: " + why};
}

int parseAndRun(int argc, char **argv, const Executable &executable) {
  std::vector<std::string> arguments = withDataInOneWord({argv, argv + argc});
  std::vector<const char *> words;
  for (const std::string &argument : arguments)
    words.push_back(argument.c_str());
  CLI::App app(executable.description);
  app.set_version_flag("--version", executable.version,
                       "what this build is, and of what");
  app.require_subcommand(1);
  Action action;
  for (auto add : executable.subcommands)
    add(app, action);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success &request) { // --help, --version
    app.exit(request);
    return finish(flushOutput());
  } catch (const CLI::ParseError &error) {
    return finish({StatusCode::usage, explain(app, error)});
  }
  if (std::string text = swallowedOption(app); !text.empty())
    return finish({StatusCode::usage, text});
  Status status = action ? action() : Status::okay();
  Status flushed = status.message().empty() ? flushOutput() : Status::okay();
  return finish(flushed.ok() ? status : flushed);
}

} // namespace

int runCommandLine(int argc, char **argv, const Executable &executable) {
  holdStandardFiles();
  // A file size limit is then an error of a write; children inherit it.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return parseAndRun(argc, argv, executable);
  } catch (const std::system_error &error) { // no more threads
    return finish(
        {StatusCode::failed,
         std::string(error.what()) + "; check `ulimit -u` and `ulimit -v`"});
  } catch (const std::exception &error) {
    return finish({StatusCode::internal, error.what()});
  }
}

} // namespace mtc::tool
