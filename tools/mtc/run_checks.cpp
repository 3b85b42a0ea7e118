//===- run_checks.cpp - options of mtc run that do not go together --------===//
//
// One function for each kind of output or end of a run. Each adds all of its
// rules that are broken: none returns at the first, so that one wrong option
// hides no other. What a single value may be is said where it is read.
//
//===----------------------------------------------------------------------===//

#include "tools/mtc/run_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::tool {
namespace {

using runtime::RunOptions;

class RunChecks {
public:
  explicit RunChecks(const RunCommand &command)
      : command_(command), o_(command.options),
        isThreads_(o_.comm == runtime::CommKind::threads) {}

  std::vector<std::string> run() {
    log();
    checkpoints();
    begin();
    evaluation();
    trace();
    profile();
    failures();
    return std::move(problems_);
  }

private:
  void log() {
    expect(!o_.appendLog || !o_.logFile.empty(),
           "--append: expected --log FILE with it");
  }

  void checkpoints() {
    if (!o_.checkpoints.empty())
      return;
    expect(o_.saveInterval == 0 && o_.keepCheckpoints == 0 && !o_.asyncSave &&
               !o_.resume,
           "--save-interval, --keep, --async-save and --resume: expected "
           "--checkpoints DIR with them");
    expect(o_.exitInterval == 0 && !command_.exitMinutes,
           "--exit-interval and --exit-duration-in-mins: expected "
           "--checkpoints DIR with them");
  }

  void begin() {
    expect(o_.initFrom.empty() || (!o_.resume && o_.load.empty()),
           "--resume and --load: expected no --init-from with them: a "
           "checkpoint has all parameters");
  }

  void evaluation() {
    bool evaluates = o_.evalBatches > 0;
    expect(!evaluates || o_.checkpoints.empty(),
           "--checkpoints: an evaluation writes none; --load DIR evaluates "
           "the newest one of DIR");
    expect(evaluates || o_.evalFirst == 0,
           "--eval-first: expected --eval BATCHES with it");
  }

  void trace() {
    expect(o_.traceStep == 0 || !o_.traceFile.empty(),
           "--trace-step: expected --trace FILE with it");
  }

  /// --profile is --trace of several steps.
  void profile() {
    const std::string &file = command_.profile;
    if (file.empty()) {
      expect(command_.profileStart == 0 && command_.profileEnd == 0,
             "--profile-step-start and --profile-step-end: expected --profile "
             "FILE with them");
      return;
    }
    expect(o_.traceFile.empty(), "--profile: expected no --trace with it, "
                                 "which is one step of the same");
    // A flag in Megatron-LM, in front of its own --profile-step-start.
    expect(
        !std::ranges::all_of(file, [](char c) { return '0' <= c && c <= '9'; }),
        "--profile: expected the name of a file, found the number {0}; its "
        "steps are --profile-step-start and --profile-step-end, and ./{0} "
        "is a file of that name",
        file);
  }

  /// What becomes of a run whose ranks wait for ever, or die.
  void failures() {
    expect(!o_.strict || isThreads_,
           "--strict: expected --comm threads with it");
    expect(o_.timeout.value_or(0) == 0 || !isThreads_,
           "--timeout: expected --comm shm or mpi with it, whose ranks are "
           "processes that can be ended");
    expect(o_.maxRestarts == 0 || (!o_.checkpoints.empty() && !isThreads_),
           "--max-restarts: expected --checkpoints DIR and --comm shm or mpi "
           "with it: all ranks start again from the last checkpoint");
  }

  template <typename... Args>
  void expect(bool holds, fmt::format_string<Args...> text, Args &&...args) {
    if (!holds)
      problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  const RunCommand &command_;
  const RunOptions &o_;
  const bool isThreads_;
  std::vector<std::string> problems_;
};

} // namespace

std::vector<std::string> checkTogether(const RunCommand &command) {
  return RunChecks(command).run();
}

} // namespace mtc::tool
