//===- last_words_test.cpp - the end of memory, in all threads at once ----===//
//
// Every case is a process of its own, whose addresses end while all its threads
// take memory: one of them must end it, with nothing left of what was begun.
//
//===----------------------------------------------------------------------===//

#include "tools/mtc/last_words.h"

#include "compiler/interrupt.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;
using mtc::compiler::TemporaryPath;

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 20;
/// Of addresses, beyond what the process has: two heaps of the C library's.
constexpr rlim_t kMore = rlim_t(128) << 20;
/// It takes hundredths of a second; a loaded machine may take very much longer.
constexpr std::chrono::seconds kPatience{30};

/// Of this process, in bytes.
rlim_t addresses() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Not by a `new` expression, which a compiler may leave out.
void takeAll() {
  constexpr std::size_t kSmall = 56;
  for (;;)
    *static_cast<volatile char *>(::operator new(kSmall)) = 1;
}

[[noreturn]] void runOutOfMemory(const fs::path &folder) {
  mtc::tool::installLastWords();
  TemporaryPath begun(folder.string());
  for (int i = 0; i < 50; ++i)
    std::ofstream(folder / std::to_string(i)) << "half of it";
  std::atomic<bool> limited{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      limited.wait(false);
      takeAll();
    });
  const rlim_t most = addresses() + kMore;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
  limited = true;
  limited.notify_all();
  for (;;)
    pause();
}

/// Its wait status; -1: it had to be killed.
int waitFor(pid_t process) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return status;
}

TEST(LastWords, MemoryEndsInAllThreadsAtOnce) {
  for (int round = 0; round < kRounds; ++round) {
    std::string name =
        (fs::temp_directory_path() / "mtc-words-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0)
      runOutOfMemory(name);
    const int status = waitFor(process);
    ASSERT_NE(status, -1) << "round " << round << " did not end";
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status),
              static_cast<int>(mtc::runtime::StatusCode::failed));
    EXPECT_FALSE(fs::exists(name)) << "round " << round;
    fs::remove_all(name);
  }
}

} // namespace
