//===- main.cpp - the mtc command -----------------------------------------===//

#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "tools/mtc/commands.h"
#include "tools/mtc/last_words.h"
#include "tools/mtc/megatron_options.h"
#include "tools/mtc/parse_error.h"
#include "tools/mtc/standard_files.h"
#include "tools/mtc/version.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

using mtc::runtime::firstLines;
using mtc::runtime::printable;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

static int finish(const Status &status) {
  std::signal(SIGPIPE, SIG_IGN); // or nobody reads: the code says it all
  // A difference between plans is said on standard output.
  if (!status.ok() && !status.message().empty() &&
      mtc::runtime::isWritable(STDERR_FILENO, mtc::runtime::kPatience))
    std::fprintf(stderr, "error: %s\n",
                 printable(firstLines(status.message())).c_str());
  return static_cast<int>(status.code());
}

/// Standard output may be a full disk, which only a flush finds out.
static Status flushOutput() {
  bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout))
    return Status::okay();
  std::string why = flushed ? "an earlier write failed" : std::strerror(errno);
  return {StatusCode::writeFailed, "cannot write to standard output: " + why};
}

static int parseAndRun(int argc, char **argv) {
  std::vector<std::string> arguments =
      mtc::tool::withDataInOneWord({argv, argv + argc});
  std::vector<const char *> words;
  for (const std::string &argument : arguments)
    words.push_back(argument.c_str());
  CLI::App app("mtc: compiles and trains transformers in parallel");
  app.set_version_flag("--version", mtc::tool::versionText,
                       "what this build is, and of what");
  app.require_subcommand(1);
  mtc::tool::Action action;
  mtc::tool::addCompile(app, action);
  mtc::tool::addLint(app, action);
  mtc::tool::addRun(app, action);
  mtc::tool::addInspect(app, action);
  mtc::tool::addDiff(app, action);
  mtc::tool::addCheckpoint(app, action);
  mtc::tool::addData(app, action);
  mtc::tool::addExplain(app, action);
  mtc::tool::addDoctor(app, action);
  mtc::tool::addFlight(app, action);
  mtc::tool::addSchedule(app, action);
  mtc::tool::addPlot(app, action);
  mtc::tool::addHelp(app, action);
  mtc::tool::addPages(app, action);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success &request) { // --help, --version
    app.exit(request);
    return finish(flushOutput());
  } catch (const CLI::ParseError &error) {
    return finish({StatusCode::usage, mtc::tool::explain(app, error)});
  }
  if (std::string text = mtc::tool::swallowedOption(app); !text.empty())
    return finish({StatusCode::usage, text});
  Status status = action ? action() : Status::okay();
  Status flushed = status.message().empty() ? flushOutput() : Status::okay();
  return finish(flushed.ok() ? status : flushed);
}

int main(int argc, char **argv) {
  mtc::tool::holdStandardFiles();
  mtc::tool::installLastWords();
  // A file size limit is then an error of a write; children inherit it.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return parseAndRun(argc, argv);
  } catch (const std::system_error &error) { // no more threads
    return finish(
        {StatusCode::failed,
         std::string(error.what()) + "; check `ulimit -u` and `ulimit -v`"});
  } catch (const std::exception &error) {
    return finish({StatusCode::internal, error.what()});
  }
}
