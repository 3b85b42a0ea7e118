// A library that gives up: who knows why says it in its place.
#include "runtime/base/abort_watch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace mtc::runtime;

namespace {

void aborted(int) {
  const LastWords *words = AbortWatch::await();
  if (!words)
    _exit(1);
  (void)!write(STDERR_FILENO, words->text.data(), words->text.size());
  _exit(int(words->code));
}

/// Ends this process, in a thread of a library, while others do nothing.
void abortInAThread() {
  std::signal(SIGABRT, aborted);
  std::thread([] { std::abort(); }).join();
}

TEST(AbortWatch, SaysWhatIsKnown) {
  auto run = [] {
    AbortWatch watch(
        [] { return Status(StatusCode::peerDied, "rank 3 \x1b died"); });
    abortInAThread();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(int(StatusCode::peerDied)),
              "^error: rank 3 \\\\x1b died\n$");
}

TEST(AbortWatch, NothingIsKnown) {
  auto run = [] {
    AbortWatch watch([] { return std::nullopt; });
    abortInAThread();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(1), "^$");
}

TEST(AbortWatch, NobodyWatches) {
  auto run = [] {
    {
      AbortWatch over([] { return Status(StatusCode::hang, "no"); });
    }
    abortInAThread();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(1), "^$");
}

// The end of who watches is behind the last message, not beside it.
TEST(AbortWatch, EndsBehindTheLastMessage) {
  auto run = [] {
    std::signal(SIGABRT, aborted);
    std::thread library;
    {
      std::atomic<bool> asked{false};
      AbortWatch watch([&] {
        asked = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return Status(StatusCode::peerDied, "rank 3 died");
      });
      library = std::thread([] { std::abort(); });
      while (!asked)
        std::this_thread::yield();
    }
    _exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(int(StatusCode::peerDied)),
              "^error: rank 3 died\n$");
}

} // namespace
