//===- abort_watch.cpp - a library gives up, and why ----------------------===//

#include "runtime/base/abort_watch.h"

#include "runtime/base/messages.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <semaphore.h>

namespace mtc::runtime {
namespace {

// Long enough for an explanation, which has limits of its own.
constexpr int kMostTicks = 1000;
constexpr timespec kTick{0, 10'000'000};

// All that a handler touches. There is one in a process.
std::atomic<bool> gWatched{false}, gAborting{false}, gExplained{false};
std::atomic<const LastWords *> gWords{nullptr};
sem_t gWake;

void sleepUntil(const std::atomic<bool> &flag) {
  for (int tick = 0; tick < kMostTicks && !flag.load(); ++tick)
    nanosleep(&kTick, nullptr);
}

} // namespace

AbortWatch::AbortWatch(Explain explain) {
  gAborting = gExplained = false;
  gWords = nullptr;
  sem_init(&gWake, 0, 0);
  thread_ = std::thread([this, explain = std::move(explain)] { //
    watch(explain);
  });
  gWatched = true;
}

AbortWatch::~AbortWatch() {
  gWatched = false;
  sem_post(&gWake);
  thread_.join();
  if (gWords.load())
    sleepUntil(std::atomic<bool>(false));
}

void AbortWatch::watch(const Explain &explain) {
  while (sem_wait(&gWake) != 0 && errno == EINTR)
    ;
  if (!gAborting.load())
    return;
  if (std::optional<Status> why = explain()) {
    words_ = {fmt::format("error: {}\n", printable(firstLines(why->message()))),
              why->code()};
    gWords = &words_;
  }
  gExplained = true;
}

const LastWords *AbortWatch::await() {
  if (!gWatched.load())
    return nullptr;
  gAborting = true;
  sem_post(&gWake);
  sleepUntil(gExplained);
  return gWords.load();
}

} // namespace mtc::runtime
