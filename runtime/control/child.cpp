//===- child.cpp - one rank as a child process ----------------------------===//

#include "runtime/control/child.h"

#include "runtime/base/file.h"
#include "runtime/base/messages.h"
#include "runtime/control/signals.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

/// Runs between fork and exec: only what is safe there.
[[noreturn]] void becomeRank(int errorPipe, pid_t parent, const char *program,
                             char *const *argv, char *const *environment) {
  dup2(errorPipe, STDERR_FILENO);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) // else it died before the call above
    execve(program, argv, environment);
  const char text[] = "error: cannot execute the program\n";
  ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  (void)ignored;
  _exit(static_cast<int>(StatusCode::inputRejected));
}

} // namespace

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (pipe_ >= 0)
    close(pipe_);
}

Status Child::start(int rank, const std::string &program,
                    const std::vector<std::string> &environment,
                    const std::vector<std::string> &arguments) {
  rank_ = rank;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {StatusCode::failed, fmt::format("cannot start rank {}: {}", rank,
                                            std::strerror(errno))};
  std::vector<char *> variables;
  for (const std::string &variable : environment)
    variables.push_back(const_cast<char *>(variable.c_str()));
  variables.push_back(nullptr);
  std::vector<char *> argv{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t parent = getpid();
  int error = 0;
  {
    BlockedSignals untilItHasHandlers; // it ends behind a step
    pid_ = fork();
    if (pid_ == 0)
      becomeRank(ends[1], parent, program.c_str(), argv.data(),
                 variables.data());
    error = errno;
  }
  close(ends[1]);
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  if (pid_ < 0)
    return {StatusCode::failed, fmt::format("cannot start rank {}: {}", rank,
                                            std::strerror(error))};
  return Status::okay();
}

void Child::signal(int number) const {
  if (pid_ > 0)
    kill(pid_, number);
}

void Child::passLine(const std::string &line) {
  constexpr std::string_view mark = "error: ";
  passHeld();
  if (!line.starts_with(mark))
    return pass(line);
  lastError_ = line.substr(mark.size());
  held_ = line;
}

void Child::passHeld() {
  if (!held_.empty())
    pass(std::exchange(held_, ""));
}

void Child::pass(const std::string &line) {
  std::string text = fmt::format("[rank {}] {}\n", rank_, printable(line));
  // Who ended must be seen to have, though nobody takes what it said.
  if (!isWritable(STDERR_FILENO, stuck_ ? 0 : kPatience)) {
    stuck_ = true;
    return;
  }
  // One write per line keeps lines of different ranks apart.
  ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

void Child::forward() {
  char buffer[4096];
  ssize_t n;
  while (pipe_ >= 0 && (n = read(pipe_, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return; // empty for now
    partial_.append(buffer, static_cast<size_t>(n));
    size_t end;
    while ((end = partial_.find('\n')) != std::string::npos) {
      passLine(partial_.substr(0, end));
      partial_.erase(0, end + 1);
    }
  }
  if (!partial_.empty())
    passLine(partial_);
  partial_.clear();
  if (pipe_ >= 0)
    close(pipe_);
  pipe_ = -1;
}

std::optional<RankOutcome> Child::reap() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_)
    return std::nullopt;
  pid_ = -1;
  forward();
  return outcome(status);
}

static bool wasAskedTo(int waitStatus) {
  int code = WIFEXITED(waitStatus) ? WEXITSTATUS(waitStatus) : 0;
  return code == static_cast<int>(StatusCode::interrupted) ||
         code == static_cast<int>(StatusCode::stoppedSaved);
}

RankOutcome Child::outcome(int waitStatus) {
  if (!wasAskedTo(waitStatus))
    passHeld();
  RankOutcome result;
  result.rank = rank_;
  if (WIFSIGNALED(waitStatus)) {
    int number = WTERMSIG(waitStatus);
    result.killed = true;
    result.status = {
        StatusCode::peerDied,
        fmt::format("killed by signal {} ({})", number, strsignal(number))};
  } else if (int code = WEXITSTATUS(waitStatus); code != 0) {
    result.told = !lastError_.empty();
    result.status = {static_cast<StatusCode>(code),
                     result.told ? lastError_
                                 : fmt::format("exited with code {}", code)};
  }
  return result;
}

} // namespace mtc::runtime
