//===- signals.cpp - a polite end by SIGINT and SIGTERM -------------------===//

#include "runtime/control/signals.h"

#include <csignal>

namespace mtc::runtime {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> gCount{0};
std::atomic<bool> gStop{false};
bool gOnce = false;
struct sigaction gOld[3], gOldPipe;
sigset_t gOldMask;

void handle(int) {
  gCount.fetch_add(1);
  gStop.store(true);
  if (gOnce) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    for (int each : kSignals)
      sigaction(each, &action, nullptr);
  }
}

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : kSignals)
    sigaddset(&set, number);
  return set;
}

} // namespace

void blockSignals() {
  sigset_t set = watched();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

SignalWatch::SignalWatch(bool once) {
  gCount = 0;
  gStop = false;
  gOnce = once;
  struct sigaction action = {};
  action.sa_handler = handle; // no SA_RESTART: poll must return
  for (int i = 0; i < 3; ++i) {
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
  pthread_sigmask(SIG_SETMASK, &gOldMask, nullptr);
  for (int i = 0; i < 3; ++i)
    sigaction(kSignals[i], &gOld[i], nullptr);
  sigaction(SIGPIPE, &gOldPipe, nullptr);
}

int SignalWatch::count() const { return gCount.load(); }

const std::atomic<bool> &SignalWatch::stop() const { return gStop; }

} // namespace mtc::runtime
