//===- interrupt.cpp - a compilation that is interrupted ------------------===//

#include "compiler/interrupt.h"

#include "runtime/base/status.h"
#include "runtime/base/unfinished_files.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <new>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mtc::compiler {
namespace {

struct Begun {
  std::mutex mutex;
  std::multiset<std::string> paths;
  std::set<pid_t> processes;
};

/// Never destroyed: the thread may need it while the process exits. Not from
/// `new`: the end of memory needs it, too.
Begun &begun() {
  alignas(Begun) static std::byte place[sizeof(Begun)];
  static Begun &instance = *new (place) Begun;
  return instance;
}

int gPipe[2] = {-1, -1};

/// Only what is safe in a handler.
void handle(int) {
  char byte = 0;
  ssize_t ignored = write(gPipe[1], &byte, 1);
  (void)ignored;
}

void watch() {
  char byte;
  while (read(gPipe[0], &byte, 1) != 1)
    ;
  endProcess("error: stopped by a signal; nothing was written\n",
             runtime::StatusCode::interrupted);
}

/// How this process ends, since a thread began to end it.
struct Ending {
  std::atomic<bool> begun{false};
  const char *message = "";
  runtime::StatusCode code{};

  [[noreturn]] void exit() const {
    std::fputs(message, stderr);
    _exit(static_cast<int>(code));
  }
};
Ending gEnding;

/// One thread ends the process. Others that find no memory, either, wait for
/// it.
void claimEnd(const char *message, runtime::StatusCode code) {
  thread_local bool here = false;
  if (here)
    gEnding.exit();
  while (gEnding.begun.exchange(true))
    pause();
  here = true;
  gEnding.message = message;
  gEnding.code = code;
}

} // namespace

void endProcess(const char *message, runtime::StatusCode code) {
  claimEnd(message, code);
  Begun &all = begun();
  // Kept: nothing may be begun any more. Not waited for without end: memory may
  // have ended in a thread that has it.
  for (int attempt = 0; attempt < 100 && !all.mutex.try_lock(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (pid_t process : all.processes) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  std::error_code error;
  for (const std::string &path : all.paths)
    // A thread may be writing into the folder.
    for (int attempt = 0; attempt < 10; ++attempt) {
      std::filesystem::remove_all(path, error);
      if (!error)
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  runtime::removeUnfinished();
  gEnding.exit();
}

void watchInterrupts() {
  if (gPipe[0] >= 0 || pipe2(gPipe, O_CLOEXEC) != 0)
    return;
  std::thread(watch).detach();
  struct sigaction action = {}, old;
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(number, &action, &old);
    if (old.sa_handler == SIG_IGN) // nohup
      sigaction(number, &old, nullptr);
  }
}

void forgetBegun() {
  gEnding.begun = false;
  begun().paths.clear();
  begun().processes.clear();
}

EndsWithUs::EndsWithUs(int process) : process_(process) {
  std::lock_guard lock(begun().mutex);
  begun().processes.insert(process_);
}

EndsWithUs::~EndsWithUs() {
  std::lock_guard lock(begun().mutex);
  begun().processes.erase(process_);
}

TemporaryPath::TemporaryPath(std::string path) : path_(std::move(path)) {
  std::lock_guard lock(begun().mutex);
  begun().paths.insert(path_);
}

TemporaryPath::~TemporaryPath() {
  std::lock_guard lock(begun().mutex);
  begun().paths.extract(path_);
}

} // namespace mtc::compiler
