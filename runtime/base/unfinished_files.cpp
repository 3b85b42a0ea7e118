//===- unfinished_files.cpp - files that nobody has finished yet ----------===//

#include "runtime/base/unfinished_files.h"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

struct Unfinished {
  std::mutex mutex;
  std::set<std::pair<pid_t, std::string>> files;
};

/// Never destroyed: a thread may need it while the process exits. Not from
/// `new`: the end of memory needs it, too.
Unfinished &unfinished() {
  alignas(Unfinished) static std::byte place[sizeof(Unfinished)];
  static Unfinished &instance = *new (place) Unfinished;
  return instance;
}

} // namespace

void noteUnfinished(const std::string &path) {
  std::lock_guard lock(unfinished().mutex);
  unfinished().files.emplace(getpid(), path);
}

void forgetUnfinished(const std::string &path) {
  std::lock_guard lock(unfinished().mutex);
  unfinished().files.erase({getpid(), path});
}

void removeUnfinished() {
  // Not waited for without end: memory may have ended in a thread that has it.
  constexpr int kAttempts = 100;
  constexpr std::chrono::milliseconds kPause{10};
  Unfinished &all = unfinished();
  for (int i = 0; i < kAttempts && !all.mutex.try_lock(); ++i)
    std::this_thread::sleep_for(kPause);
  for (const auto &[process, path] : all.files)
    if (process == getpid())
      unlink(path.c_str());
}

} // namespace mtc::runtime
