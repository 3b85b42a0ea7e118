//===- helpers.cpp - processes that link ----------------------------------===//

#include "compiler/link/helpers.h"

#include "compiler/link/messages.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// Without the signals that interrupt, from the first moment on: the process
/// that is interrupted ends its copies.
pid_t forkUninterrupted() {
  sigset_t interrupts, before;
  sigemptyset(&interrupts);
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&interrupts, number);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  pid_t process = fork();
  if (process != 0)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return process;
}

/// Who waits for the end of this process's output does not wait for a helper's.
void detach(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it ended before
    _exit(0);
  forgetBegun();
  if (int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0)
    for (int standard : {STDIN_FILENO, STDOUT_FILENO})
      dup2(nowhere, standard);
}

/// A job as a helper is told it, and back.
std::vector<std::string> wordsOf(const LinkJob &job) {
  std::vector<std::string> words = {job.file,
                                    std::to_string(static_cast<int>(job.form))};
  words.insert(words.end(), job.objects.begin(), job.objects.end());
  return words;
}

/// `toolchain` is empty at first, and then what was found.
Status linkWords(const std::vector<std::string> &words, Toolchain &toolchain) {
  if (toolchain.executable.empty()) {
    Toolchain found;
    MTC_RETURN_IF_ERROR(findToolchain(found));
    toolchain = std::move(found);
  }
  LinkJob job = {words[0],
                 {words.begin() + 2, words.end()},
                 static_cast<LinkForm>(std::stoi(words[1]))};
  return linkProgram(toolchain, job);
}

/// What a helper does until nobody asks any more. Nothing of this process is
/// unwound or written in it.
[[noreturn]] void serve(int channel) {
  Toolchain toolchain;
  for (std::vector<std::string> words; receiveStrings(channel, words);) {
    Status status = linkWords(words, toolchain);
    std::string code = std::to_string(static_cast<int>(status.code()));
    if (!sendStrings(channel, {code, status.message()}))
      break;
  }
  _exit(0);
}

} // namespace

LinkHelpers::LinkHelpers(size_t count) {
  while (helpers_.size() < count && start())
    ;
}

LinkHelpers::~LinkHelpers() {
  killed_.clear(); // the number of a process that was waited for is anybody's
  for (const Helper &helper : helpers_)
    close(helper.channel);
  for (const Helper &helper : helpers_)
    waitpid(helper.process, nullptr, 0);
}

bool LinkHelpers::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  pid_t parent = getpid(), process = forkUninterrupted();
  if (process == 0) {
    detach(parent);
    close(ends[0]);
    for (const Helper &other : helpers_)
      close(other.channel); // which would keep it from ending
    serve(ends[1]);
  }
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return false;
  }
  helpers_.push_back({process, ends[0]});
  killed_.emplace_back(process);
  return true;
}

/// It is waited for at the end: until then its number stays its own.
static Status whyEnded(int process) {
  siginfo_t info = {};
  bool known =
      waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) == 0;
  if (known && info.si_code == CLD_EXITED && info.si_status != 0)
    return {StatusCode::failed, ""};
  std::string how = known && info.si_code != CLD_EXITED
                        ? fmt::format("by signal {}", info.si_status)
                        : "by itself";
  return {StatusCode::failed,
          fmt::format("linking failed: a process of mtc that links ended {}; "
                      "where memory is short, check `ulimit -v`",
                      how)};
}

Status LinkHelpers::link(size_t number, const LinkJob &job) {
  const Helper &helper = helpers_[number];
  std::vector<std::string> answer;
  if (!sendStrings(helper.channel, wordsOf(job)) ||
      !receiveStrings(helper.channel, answer))
    return whyEnded(helper.process);
  return {static_cast<StatusCode>(std::stoi(answer[0])), answer[1]};
}

} // namespace mtc::compiler
