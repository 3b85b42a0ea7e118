//===- bench_team.cpp - libgomp's threads beside a small pool -------------===//
//
// usage: bench_team [THREADS...] (default 1 2)
//
// What a call on all threads of a rank costs, start to end, beyond the work of
// its slowest part, and what a meeting in one costs: by libgomp through mtc's
// own onTeam and teamMeets, and by a pool of our own (small_pool.h). Threads
// that wait look 300,000 times before they sleep (libgomp's default), 3,000
// times (what mtc asks for where each thread has a core), or sleep at once;
// more threads than cores look 1,000 times at most, as libgomp's do. The caller
// works alone between calls for as long as a row says, or not at all.
//
// libgomp reads how often to look when it is loaded, so each way is a process
// of its own; all ways run once in each of seven rounds. Medians of the rounds,
// with least and most.
//
//===----------------------------------------------------------------------===//
#include "small_pool.h"

#include "runtime/kernels/cpu/team.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using mtc::bench::SmallPool;
using mtc::runtime::onTeam;
using mtc::runtime::teamMeets;

namespace {

constexpr int kRounds = 7;
constexpr int64_t kGompDefault = 300'000, kGompThrottled = 1'000;

struct Way {
  const char *team;
  int64_t spins;
};
constexpr Way kWays[] = {
    {"libgomp", kGompDefault}, {"pool", kGompDefault}, {"libgomp", 3'000},
    {"pool", 3'000},           {"libgomp", 0},         {"pool", 0}};
constexpr int kWayCount = std::size(kWays);

/// In microseconds: what the caller does before a call, or a meeting, and what
/// it and the others do in one.
struct Case {
  const char *name;
  int calls;
  double alone, caller, others;
  bool meets;

  double slowest(int64_t threads) const {
    return threads > 1 ? std::max(caller, others) : caller;
  }
};
constexpr Case kCases[] = {
    {"call, back to back", 4000, 0, 0, 0, false},
    {"call, 20 us between", 800, 20, 0, 0, false},
    {"call, 200 us between", 150, 200, 0, 0, false},
    {"call, 2 ms between", 25, 2000, 0, 0, false},
    {"call of 5 us each", 1000, 0, 5, 5, false},
    {"  200 us between", 150, 200, 5, 5, false},
    {"call, caller 5, others 50 us", 500, 0, 5, 50, false},
    {"  200 us between", 150, 200, 5, 50, false},
    {"call, caller 50, others 5 us", 500, 0, 50, 5, false},
    {"  200 us between", 150, 200, 50, 5, false},
    {"meeting, back to back", 4000, 0, 0, 0, true},
    {"meeting, caller late by 20 us", 800, 20, 0, 0, true},
    {"meeting, caller late by 200 us", 150, 200, 0, 0, true},
    {"meeting, caller late by 2 ms", 25, 2000, 0, 0, true}};
constexpr int kCaseCount = std::size(kCases);

double microseconds() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch())
      .count();
}

void workFor(double us) {
  if (us <= 0)
    return;
  for (double end = microseconds() + us; microseconds() < end;)
    ;
}

/// Calls and meetings by libgomp, as the runtime has them.
struct Gomp {
  const int64_t threads;
  void run(MtcPart work, void *with) { onTeam(threads, work, with); }
  void meet() { teamMeets(); }
};

template <typename Team, typename Work> void call(Team &team, Work &&work) {
  team.run(
      [](void *with, int64_t part, int64_t) {
        (*static_cast<std::remove_reference_t<Work> *>(with))(part);
      },
      &work);
}

/// Microseconds a call, beyond the work of its slowest part.
template <typename Team> double timeCalls(Team &team, const Case &each) {
  double took = 0, start = microseconds();
  for (int i = 0; i < each.calls; ++i) {
    workFor(each.alone);
    if (each.alone > 0)
      start = microseconds();
    call(team,
         [&](int64_t part) { workFor(part == 0 ? each.caller : each.others); });
    if (each.alone > 0)
      took += microseconds() - start;
  }
  if (each.alone <= 0)
    took = microseconds() - start;
  return took / each.calls - each.slowest(team.threads);
}

/// Microseconds a meeting, beyond what the caller comes late.
template <typename Team> double timeMeetings(Team &team, const Case &each) {
  double took = 0;
  call(team, [&](int64_t part) {
    team.meet();
    double start = microseconds();
    for (int i = 0; i < each.calls; ++i) {
      if (part == 0)
        workFor(each.alone);
      team.meet();
    }
    if (part == 0)
      took = microseconds() - start;
  });
  return took / each.calls - each.alone;
}

/// False if not every part of every call ran.
template <typename Team> bool warmUp(Team &team, int64_t threads) {
  constexpr int kCalls = 200;
  std::atomic<int64_t> ran = 0;
  for (int i = 0; i < kCalls; ++i)
    call(team, [&](int64_t part) { ran += part + 1; });
  return ran == kCalls * threads * (threads + 1) / 2;
}

template <typename Team> int runCases(Team &&team, int64_t threads) {
  if (!warmUp(team, threads))
    return 1;
  for (const Case &each : kCases)
    std::printf("%.17g\n",
                each.meets ? timeMeetings(team, each) : timeCalls(team, each));
  return 0;
}

int64_t spinsOf(const Way &way, int64_t threads) {
  bool fits = threads <= int64_t(std::thread::hardware_concurrency());
  return fits ? way.spins : std::min(way.spins, kGompThrottled);
}

int runWay(const Way &way, int64_t threads) {
  if (!std::strcmp(way.team, "libgomp"))
    return runCases(Gomp{threads}, threads);
  return runCases(SmallPool(threads, spinsOf(way, threads)), threads);
}

std::string pathOfThis() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return {path, size_t(std::max<ssize_t>(length, 0))};
}

void setEnvironment(const Way &way) {
  for (const char *name :
       {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "OMP_THREAD_LIMIT"})
    unsetenv(name);
  if (way.spins != kGompDefault)
    setenv("GOMP_SPINCOUNT", std::to_string(way.spins).c_str(), 1);
}

/// Nanoseconds of each case; none if the process failed.
std::vector<double> inProcess(int way, int64_t threads) {
  setEnvironment(kWays[way]);
  std::string command = "exec '";
  command += pathOfThis() + "' --way ";
  command += std::to_string(way) + " " + std::to_string(threads);
  FILE *out = popen(command.c_str(), "r");
  std::vector<double> found;
  double us = 0;
  while (out && std::fscanf(out, "%lf", &us) == 1)
    found.push_back(us * 1e3);
  bool worked = out && pclose(out) == 0;
  return worked && int(found.size()) == kCaseCount ? found
                                                   : std::vector<double>();
}

using Rounds = std::vector<double>;

void print(int64_t threads, int ways, Rounds (&times)[kWayCount][kCaseCount]) {
  std::printf("\n%d threads, ns: median (least to most) of %d\n%-31s",
              int(threads), kRounds, "");
  for (int way = 0; way < ways; ++way)
    std::printf("%12s %6ld %9s", kWays[way].team,
                long(spinsOf(kWays[way], threads)), "");
  std::printf("\n");
  for (int i = 0; i < kCaseCount; ++i) {
    std::printf("%-31s", kCases[i].name);
    for (int way = 0; way < ways; ++way) {
      Rounds &all = times[way][i];
      std::sort(all.begin(), all.end());
      char range[32];
      std::snprintf(range, sizeof range, "(%.0f to %.0f)", all.front(),
                    all.back());
      std::printf("%10.0f %-18s", all[kRounds / 2], range);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

int compare(int64_t threads) {
  // One thread waits for nobody: how often it would look does not matter.
  int ways = threads > 1 ? kWayCount : 2;
  Rounds times[kWayCount][kCaseCount];
  for (int round = 0; round < kRounds; ++round)
    for (int way = 0; way < ways; ++way) {
      std::vector<double> found = inProcess(way, threads);
      if (found.empty()) {
        std::fprintf(stderr, "%s with %d threads: failed\n", kWays[way].team,
                     int(threads));
        return 1;
      }
      for (int i = 0; i < kCaseCount; ++i)
        times[way][i].push_back(found[size_t(i)]);
    }
  print(threads, ways, times);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 4 && !std::strcmp(argv[1], "--way"))
    return runWay(kWays[std::atoi(argv[2])], std::atoi(argv[3]));
  std::vector<int64_t> teams;
  for (int i = 1; i < argc; ++i)
    teams.push_back(std::max(1, std::atoi(argv[i])));
  if (teams.empty())
    teams = {1, 2};
  for (int64_t threads : teams)
    if (compare(threads))
      return 1;
  return 0;
}
