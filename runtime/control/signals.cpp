//===- signals.cpp - a polite end, or a checkpoint, by signals ------------===//

#include "runtime/control/signals.h"

#include <csignal>
#include <iterator>

namespace mtc::runtime {
namespace {

constexpr int kSave = SIGUSR1;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, kSave};
std::atomic<int> gCount{0}, gSaves{0}, gLate{0};
std::atomic<bool> gStop{false};
bool gOnce = false;
struct sigaction gOld[std::size(kSignals)], gOldPipe;
sigset_t gOldMask;

void setAll(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (int each : kSignals)
    if (each != kSave)
      sigaction(each, &action, nullptr);
}

/// Behind the watch.
void handleLate(int) {
  if (gLate.fetch_add(1) + 1 == SignalWatch::kMostLate)
    setAll(SIG_DFL, 0);
}

void handle(int number) {
  if (number == kSave) {
    gSaves.fetch_add(1);
    return;
  }
  gCount.fetch_add(1);
  gStop.store(true);
  if (gOnce)
    setAll(SIG_DFL, 0);
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : kSignals)
    sigaddset(&set, number);
  return set;
}

} // namespace

BlockedSignals::BlockedSignals() {
  sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

SignalWatch::SignalWatch(bool once) {
  gCount = gSaves = gLate = 0;
  gStop = false;
  gOnce = once;
  struct sigaction action = {};
  action.sa_handler = handle; // no SA_RESTART: poll must return
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &gOld[i]);
    // nohup, and the background jobs of scripts
    if (gOld[i].sa_handler == SIG_IGN)
      sigaction(kSignals[i], &gOld[i], nullptr);
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &gOldPipe);
  sigset_t set = watched();
  pthread_sigmask(SIG_UNBLOCK, &set, &gOldMask);
}

SignalWatch::~SignalWatch() {
  if (kept_) {
    struct sigaction now = {};
    for (size_t i = 0; i < std::size(kSignals); ++i)
      if (sigaction(kSignals[i], nullptr, &now); now.sa_handler != SIG_IGN) {
        now.sa_handler = kSignals[i] == kSave ? handle : handleLate;
        now.sa_flags = SA_RESTART;
        sigaction(kSignals[i], &now, nullptr);
      }
    return;
  }
  pthread_sigmask(SIG_SETMASK, &gOldMask, nullptr);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &gOld[i], nullptr);
  sigaction(SIGPIPE, &gOldPipe, nullptr);
}

int SignalWatch::count() const { return gCount.load(); }

const std::atomic<bool> &SignalWatch::stop() const { return gStop; }

const std::atomic<int> &SignalWatch::saves() const { return gSaves; }

} // namespace mtc::runtime
